"""Running any retriever for the queries of a data set; what the hosts and the command share.

Inside: ``run_queries`` (all queries of a data set become a ``Run``: concurrency, time limits,
retries, failures), ``journal`` (resumes an interrupted run), ``origin`` (what made the answers of a
journal), ``documents`` (names of documents, and rankings of them), ``evaluate_dataset`` (retrieves
and evaluates), ``chunks`` (the same on judged spans of text), ``json_calls`` (a retriever behind an
address or a command). Nothing is public.
"""
