"""Files beside the database: uploads, object stores."""
