"""Running any retriever for the queries of a data set; what the hosts and the command share.

Inside: ``retrieve_all`` (all queries of a data set become a ``Run``), ``query_runner`` (runs the
queries: concurrency, time limits, retries, failures), ``journal`` (resumes an interrupted run),
``origin`` (what made the answers of a journal), ``documents`` (names of documents, and rankings of
them), ``evaluate_dataset`` (retrieves and evaluates), ``host_retrievers`` (``evaluate_retriever``
of LlamaIndex and LangChain), ``json_hits`` (rankings in JSON), ``http_call`` and ``command_call``
(a retriever behind an address or a command). Nothing is public.
"""
