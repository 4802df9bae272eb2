"""Files beside the database: uploads, backups, object stores."""
