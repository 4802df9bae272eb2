"""Storage: tables, the job queue, raw uploads and the audit chain. SQLite by default, PostgreSQL by URL."""
