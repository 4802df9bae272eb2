"""Job queue, tasks, leases and the heartbeats of workers."""
