-- Creates the functions and triggers that maintain the row counts of a list (db/schema/counts.ts). Functions
-- are named count_, fold_, recount_, differ_, check_ and rebuild_ plus the list's name.
--
-- A writer inserts deltas and does not change counts, so that writers never wait for each other. From time to time a
-- writer also folds, which adds the deltas to the blocks, under a lock for which inserts, updates and deletes never
-- wait. A single statement deletes the deltas and either sums them or recounts their rows. Rows committed after its
-- snapshot have deltas of their own.
--
-- If `missing` is given, the first of `columns` may be null and then counts as that value.
CREATE OR REPLACE FUNCTION keep_counts(
  list text, source text, columns text[], keys text[], first text, closed text[], missing text DEFAULT NULL
) RETURNS void LANGUAGE plpgsql AS $keep$
DECLARE
  -- Placeholders such as [keys] and [columns of x] are replaced below.
  template text := $template$
-- An UPDATE changes all its rows before the row triggers insert their deltas. If a row trigger recounted a block, the
-- deltas of later row triggers would count some changes twice, so only the statement trigger folds.
CREATE OR REPLACE FUNCTION count_[list]() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
  written int := 0;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('fold [list]', 0));
    DELETE FROM [list]_deltas;
    DELETE FROM [list]_blocks;
    RETURN NULL;
  ELSIF TG_LEVEL = 'ROW' THEN
    INSERT INTO [list]_deltas ([keys], kinds, row_count)
      VALUES ([columns of OLD], [kinds of OLD], -1), ([columns of NEW], [kinds of NEW], 1);
    IF random() < 0.002 THEN
      PERFORM set_config('w5t.fold_[list]', 'due', true);
    END IF;
    RETURN NULL;
  ELSIF TG_OP <> 'UPDATE' THEN
    INSERT INTO [list]_deltas ([keys], kinds, row_count)
      SELECT [columns of r], [kinds of r], CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END FROM changed r;
    GET DIAGNOSTICS written = ROW_COUNT;
  END IF;
  IF written >= 1000 OR written > 0 AND random() < 0.002 OR current_setting('w5t.fold_[list]', true) = 'due' THEN
    PERFORM set_config('w5t.fold_[list]', '', true);
    PERFORM fold_[list]();
  END IF;
  RETURN NULL;
END $body$;

-- The planner overestimates ranges of several columns, because it only considers the first column. If random page reads
-- cost nothing, the planner uses the index. The enable_ settings undo those of commit_plan, whose writes may call this
-- function. Without jit = off, reading all deltas seemed so costly there that JIT compilation took 400 ms.
CREATE OR REPLACE FUNCTION fold_[list]() RETURNS void LANGUAGE plpgsql SET random_page_cost = 0
SET jit = off SET enable_seqscan = on SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_mergejoin = on
AS $body$
DECLARE
  full_block [list]_blocks;
  next_block [list]_blocks;
BEGIN
  -- At a stricter isolation level, the snapshot is older than the lock and may lack what others have folded since.
  IF current_setting('transaction_isolation') <> 'read committed'
    OR NOT pg_try_advisory_xact_lock(hashtextextended('fold [list]', 0)) THEN RETURN; END IF;
  IF NOT EXISTS (SELECT FROM [list]_blocks) THEN
    PERFORM recount_[list](ROW([first], '', 0)::[list]_blocks, NULL);
    RETURN;
  END IF;
  WITH folded AS (
    DELETE FROM [list]_deltas RETURNING *
  ), starts AS (
    SELECT [keys], row_number() OVER (ORDER BY [keys]) AS block FROM [list]_blocks WHERE kind = ''
  ), placed AS (
    SELECT kinds, row_count,
      count(*) FILTER (WHERE kinds IS NULL) OVER (ORDER BY [keys], kinds NULLS FIRST ROWS UNBOUNDED PRECEDING) AS block
    FROM (SELECT [keys], kinds, row_count FROM folded UNION ALL SELECT [keys], NULL, 0 FROM starts) points
  ), sums AS (
    SELECT block, kind, sum(row_count) AS row_count
    FROM placed, unnest(kinds) kind GROUP BY block, kind HAVING sum(row_count) <> 0
  )
  INSERT INTO [list]_blocks AS b ([keys], kind, row_count)
    SELECT [keys], kind, row_count FROM sums JOIN starts USING (block)
    ON CONFLICT (kind, [keys]) DO UPDATE SET row_count = b.row_count + excluded.row_count;
  FOR full_block IN SELECT * FROM [list]_blocks WHERE kind = '' AND row_count > 5000 LOOP
    SELECT * INTO next_block FROM [list]_blocks
      WHERE kind = '' AND ([keys]) > ([keys of full_block]) ORDER BY [keys] LIMIT 1;
    PERFORM recount_[list](full_block, next_block);
  END LOOP;
END $body$;

-- Recounts the rows from the start of one block to the start of the other (null means to the end), and divides them
-- into new blocks. The caller must hold the lock.
CREATE OR REPLACE FUNCTION recount_[list](from_block [list]_blocks, to_block [list]_blocks) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $body$
BEGIN
  DELETE FROM [list]_blocks
    WHERE ([keys]) >= ([keys of from_block]) AND (to_block.row_count IS NULL OR ([keys]) < ([keys of to_block]));
  WITH folded AS (
    DELETE FROM [list]_deltas
      WHERE ([keys]) >= ([keys of from_block]) AND (to_block.row_count IS NULL OR ([keys]) < ([keys of to_block]))
  ), numbered ([keys], kinds, place) AS (
    SELECT [columns of r], [kinds of r], row_number() OVER (ORDER BY [columns of r]) - 1
    FROM [source] r
    WHERE ([columns of r]) >= ([keys of from_block]) AND (to_block.row_count IS NULL OR ([columns of r]) < ([keys of to_block]))
  ), size AS (
    -- Divide into blocks of about equal size, at most 4500 rows, so that they can grow before the next recount.
    SELECT greatest(ceil(count(*) / ceil(count(*) / 4500.0)), 1)::int AS size FROM numbered HAVING count(*) > 0
  ), sums AS (
    SELECT place / size AS block, kind, count(*) AS row_count FROM numbered, size, unnest(kinds) kind GROUP BY 1, 2
    UNION ALL SELECT 0, '', 0 WHERE NOT EXISTS (SELECT FROM numbered)
  ), starts AS (
    SELECT [keys of from_block], 0 AS block
    UNION ALL SELECT [keys of n], place / size FROM numbered n, size WHERE place > 0 AND place % size = 0
  )
  INSERT INTO [list]_blocks ([keys], kind, row_count)
    SELECT [keys], kind, row_count FROM sums JOIN starts USING (block);
END $body$;

-- Returns the wrong counts from the start of one block to the start of the other (null means to the end), with the
-- excess of each.
CREATE OR REPLACE FUNCTION differ_[list](from_block [list]_blocks, to_block [list]_blocks)
RETURNS TABLE (differing text, excess bigint) LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan SET random_page_cost = 0 AS $body$
BEGIN
  RETURN QUERY SELECT kind, sum(row_count)::bigint FROM (
    SELECT kind, row_count FROM [list]_blocks
      WHERE ([keys]) >= ([keys of from_block]) AND (to_block.row_count IS NULL OR ([keys]) < ([keys of to_block]))
    UNION ALL
    SELECT unnest(kinds), row_count FROM [list]_deltas
      WHERE ([keys]) >= ([keys of from_block]) AND (to_block.row_count IS NULL OR ([keys]) < ([keys of to_block]))
    UNION ALL
    SELECT unnest([kinds of r]), -1 FROM [source] r
      WHERE ([columns of r]) >= ([keys of from_block]) AND (to_block.row_count IS NULL OR ([columns of r]) < ([keys of to_block]))
  ) counts GROUP BY kind HAVING sum(row_count) <> 0 ORDER BY kind;
END $body$;

-- Returns whether the counts of a random block are right, or null if another transaction has the lock.
CREATE OR REPLACE FUNCTION check_[list]() RETURNS boolean LANGUAGE plpgsql AS $body$
DECLARE
  some_block [list]_blocks;
  next_block [list]_blocks;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('fold [list]', 0)) THEN RETURN NULL; END IF;
  SELECT * INTO some_block FROM [list]_blocks WHERE kind = '' ORDER BY random() LIMIT 1;
  SELECT * INTO next_block FROM [list]_blocks
    WHERE kind = '' AND ([keys]) > ([keys of some_block]) ORDER BY [keys] LIMIT 1;
  RETURN NOT EXISTS (SELECT FROM differ_[list](some_block, next_block));
END $body$;

-- Recounts all rows, and returns the counts that were wrong, with their blocks.
CREATE OR REPLACE FUNCTION rebuild_[list]() RETURNS TABLE (block text, kind_of_rows text, excess_rows bigint)
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('fold [list]', 0));
  RETURN QUERY WITH starts AS (
    SELECT [keys], row_number() OVER (ORDER BY [keys]) AS place FROM [list]_blocks WHERE kind = ''
  ), placed AS (
    SELECT kinds, row_count,
      count(*) FILTER (WHERE kinds IS NULL) OVER (ORDER BY [keys], kinds NULLS FIRST ROWS UNBOUNDED PRECEDING) AS place
    FROM (
      SELECT [columns of r], [kinds of r], -1 FROM [source] r
      UNION ALL SELECT [keys], kinds, row_count FROM [list]_deltas
      UNION ALL SELECT [keys], NULL, 0 FROM starts
    ) points ([keys], kinds, row_count)
  ), counts AS (
    SELECT place, kind, row_count FROM placed, unnest(kinds) kind
    UNION ALL SELECT place, kind, row_count FROM [list]_blocks b JOIN starts s ON ([keys of b]) = ([keys of s])
  )
  SELECT concat_ws(' #', [keys of s]), kind, sum(row_count)::bigint FROM counts JOIN starts s USING (place)
    GROUP BY place, kind, [keys of s] HAVING sum(row_count) <> 0 ORDER BY place, kind;
  PERFORM recount_[list](ROW([first], '', 0)::[list]_blocks, NULL);
END $body$;

CREATE OR REPLACE TRIGGER [list]_count_inserted AFTER INSERT ON [source] REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_[list]();
CREATE OR REPLACE TRIGGER [list]_count_deleted AFTER DELETE ON [source] REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_[list]();
CREATE OR REPLACE TRIGGER [list]_count_truncated AFTER TRUNCATE ON [source]
  FOR EACH STATEMENT EXECUTE FUNCTION count_[list]();
CREATE OR REPLACE TRIGGER [list]_count_updated AFTER UPDATE OF [counted] ON [source] FOR EACH ROW
  WHEN (([counted of OLD]) IS DISTINCT FROM ([counted of NEW])) EXECUTE FUNCTION count_[list]();
CREATE OR REPLACE TRIGGER [list]_count_updates AFTER UPDATE OF [counted] ON [source]
  FOR EACH STATEMENT EXECUTE FUNCTION count_[list]();
SELECT fold_[list]();
  $template$;
  alias text;
  kinds text[];
  values_of text[];
  counted CONSTANT text[] := columns || closed;
BEGIN
  template := replace(replace(replace(template, '[list]', list), '[source]', source), '[first]', first);
  template := replace(replace(template, '[keys]', array_to_string(keys, ', ')), '[counted]', array_to_string(counted, ', '));
  FOREACH alias IN ARRAY ARRAY['OLD', 'NEW', 'r', 'n', 'b', 's', 'from_block', 'to_block', 'full_block', 'some_block'] LOOP
    SELECT array_agg(format('%s.%I::text', alias, name) ORDER BY place) INTO kinds
      FROM unnest(closed) WITH ORDINALITY AS c (name, place);
    IF cardinality(kinds) > 1 THEN kinds := kinds || array_to_string(kinds, ' || '' '' || '); END IF;
    template := replace(template, format('[kinds of %s]', alias), format('ARRAY['''', %s]', array_to_string(kinds, ', ')));
    template := replace(template, format('[keys of %s]', alias), alias || '.' || array_to_string(keys, ', ' || alias || '.'));
    SELECT array_agg(format(CASE WHEN place = 1 AND missing IS NOT NULL THEN 'coalesce(%1$s.%2$I, %3$L)' ELSE '%1$s.%2$I' END,
        alias, name, missing) ORDER BY place) INTO values_of
      FROM unnest(columns) WITH ORDINALITY AS c (name, place);
    template := replace(template, format('[columns of %s]', alias), array_to_string(values_of, ', '));
    template := replace(template, format('[counted of %s]', alias), alias || '.' || array_to_string(counted, ', ' || alias || '.'));
  END LOOP;
  EXECUTE template;
END $keep$;
--> statement-breakpoint
-- Count each list in total, and for each value and each pair of values of the columns that it can be filtered by.
DO $$ BEGIN
  PERFORM keep_counts(
    'invoice', 'invoices', ARRAY['invoice_date', 'id'], ARRAY['day', 'row_id'], '''-infinity'', 0', ARRAY['status']);
  PERFORM keep_counts(
    'payment', 'payments', ARRAY['payment_date', 'id'], ARRAY['day', 'row_id'], '''-infinity'', 0', ARRAY['status']);
  PERFORM keep_counts(
    'sales_document', 'sales_documents', ARRAY['document_date', 'id'], ARRAY['day', 'row_id'], '''-infinity'', 0',
    ARRAY['type', 'status']);
  PERFORM keep_counts(
    'service', 'customer_services', ARRAY['service_number'], ARRAY['number'], '''''',
    ARRAY['service_type', 'status']);
  -- These lists sort the same tables by another date, which may be null.
  PERFORM keep_counts('due_invoice', 'invoices', ARRAY['due_date', 'id'], ARRAY['day', 'row_id'], '''-infinity'', 0',
    ARRAY['status'], 'infinity');
  PERFORM keep_counts('valid_document', 'sales_documents', ARRAY['valid_until', 'id'], ARRAY['day', 'row_id'],
    '''-infinity'', 0', ARRAY['type', 'status'], 'infinity');
  PERFORM keep_counts('billed_service', 'customer_services', ARRAY['next_billing_date', 'id'], ARRAY['day', 'row_id'],
    '''-infinity'', 0', ARRAY['service_type', 'status'], 'infinity');
END $$;
