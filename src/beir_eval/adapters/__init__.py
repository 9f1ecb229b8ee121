"""Someone else's files and objects, turned into Qrels and Run; one module a format or package."""
