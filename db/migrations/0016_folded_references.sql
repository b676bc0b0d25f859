-- References have no spaces of other kinds, no two in a row and none at the ends, as lib/payments/normal-reference.ts
-- has it. Where several come to the same, the first takes it, unless another one has it already.
INSERT INTO "staff_tasks" ("kind", "subject", "message", "entity", "entity_id")
  SELECT 'reference_collides', string_agg(id::text, ' ' ORDER BY id), 'Payments ' || string_agg(id::text, ', ' ORDER BY id)
      || ' have references that differ by spaces alone: they may be one payment that was recorded several times.',
    'payment', max(id)
  FROM (
    SELECT id, btrim(regexp_replace(payment_reference, '[\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g')) AS folded
      FROM "payments"
  ) p GROUP BY folded HAVING count(*) > 1
  ON CONFLICT DO NOTHING;--> statement-breakpoint
UPDATE "payments" t SET "payment_reference" = p.folded
  FROM (
    SELECT DISTINCT ON (folded) id, folded FROM (
      SELECT id, btrim(regexp_replace(payment_reference, '[\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g')) AS folded
        FROM "payments"
    ) f ORDER BY folded, id
  ) p
  WHERE t.id = p.id AND t.payment_reference <> p.folded AND p.folded <> ''
    AND NOT EXISTS (SELECT FROM "payments" o WHERE o.payment_reference = p.folded);--> statement-breakpoint
WITH old AS (
  DELETE FROM "payment_tombstones" WHERE "reference" ~ '^\u0020|\u0020$|\u0020\u0020|[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]'
    RETURNING "reference"
)
INSERT INTO "payment_tombstones" ("reference")
  SELECT DISTINCT btrim(regexp_replace("reference", '[\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g')) FROM old
  ON CONFLICT DO NOTHING;
