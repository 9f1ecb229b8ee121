-- The cutoff.
SET VARIABLE k = 10;

-- The scores of every judged query.
CREATE OR REPLACE VIEW query_scores AS
WITH judged AS (
    SELECT DISTINCT
        encode(CAST(query_id AS VARCHAR)) AS query_id,
        encode(CAST(doc_id AS VARCHAR)) AS doc_id,
        greatest(CAST(grade AS DOUBLE), 0) AS gain
    FROM qrels
),
ideal_ranks AS (
    SELECT query_id, gain, row_number() OVER (PARTITION BY query_id ORDER BY gain DESC) AS rank
    FROM judged
),
ideal AS (
    SELECT
        query_id,
        coalesce(sum(gain / log2(rank + 1)) FILTER (rank <= getvariable('k')), 0) AS dcg
    FROM ideal_ranks
    GROUP BY query_id
),
run_rows AS (
    SELECT
        encode(CAST(query_id AS VARCHAR)) AS query_id,
        encode(CAST(doc_id AS VARCHAR)) AS doc_id,
        CAST(score AS DOUBLE) AS score
    FROM run
),
ranked AS (
    SELECT
        query_id,
        doc_id,
        row_number() OVER (PARTITION BY query_id ORDER BY score DESC, doc_id DESC) AS rank
    FROM run_rows
    SEMI JOIN judged USING (query_id)
),
retrieved AS (
    SELECT
        query_id,
        sum(gain / log2(rank + 1)) AS dcg,
        min(rank) FILTER (gain > 0) AS first_relevant
    FROM ranked
    JOIN judged USING (query_id, doc_id)
    WHERE rank <= getvariable('k')
    GROUP BY query_id
)
SELECT
    decode(query_id) AS query_id,
    CASE WHEN ideal.dcg > 0 THEN coalesce(retrieved.dcg, 0) / ideal.dcg ELSE 0 END AS ndcg,
    coalesce(1 / first_relevant, 0) AS mrr
FROM ideal
LEFT JOIN retrieved USING (query_id);

SELECT query_id, ndcg, mrr FROM query_scores ORDER BY encode(query_id);

-- Their means.
SELECT count(*) AS queries, avg(ndcg) AS ndcg, avg(mrr) AS mrr FROM query_scores;

-- Documents that a ranking lists more than once.
SELECT decode(query) AS query_id, decode(doc) AS doc_id, count(*) AS copies
FROM (
    SELECT
        encode(CAST(query_id AS VARCHAR)) AS query,
        encode(CAST(doc_id AS VARCHAR)) AS doc
    FROM run
)
GROUP BY query, doc
HAVING count(*) > 1;
