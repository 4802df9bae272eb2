from tests.databases import postgres_cluster

__all__ = ["postgres_cluster"]
