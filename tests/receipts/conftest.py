from tests.databases import database, database_url, postgres_cluster

__all__ = ["database", "database_url", "postgres_cluster"]
