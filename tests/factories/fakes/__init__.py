"""Programs at the borders of the service, which speak the real protocol over a real socket."""
