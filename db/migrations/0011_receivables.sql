-- What each customer owes, and indexes for the orders of lists by open amount and by due date.
-- Functions: 89ef249150001d2673778b5ff569f98e8cac565a92ba486922fb2f734dc5543f
CREATE TABLE "receivable_changes" (
	"customer_id" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "receivables" (
	"customer_id" integer NOT NULL,
	"currency" text NOT NULL,
	"open_amount" numeric(24, 3) NOT NULL,
	"invoice_count" integer NOT NULL,
	"oldest_due" date NOT NULL,
	"not_due" numeric(24, 3) NOT NULL,
	"days_1_30" numeric(24, 3) NOT NULL,
	"days_31_60" numeric(24, 3) NOT NULL,
	"days_61_90" numeric(24, 3) NOT NULL,
	"over_90_days" numeric(24, 3) NOT NULL,
	"last_payment" date NOT NULL,
	"last_note" timestamp with time zone NOT NULL,
	"valid_from" date NOT NULL,
	"valid_until" date NOT NULL,
	CONSTRAINT "receivables_customer_id_currency_pk" PRIMARY KEY("customer_id","currency")
);
--> statement-breakpoint
-- Migrations run in one transaction, where no index is dropped or built concurrently. Those of the invoices take some
-- seconds for two million invoices, and writes wait for them.
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX "invoices_unpaid_amount";--> statement-breakpoint
CREATE INDEX "receivables_open" ON "receivables" USING btree ("open_amount","customer_id","currency");--> statement-breakpoint
CREATE INDEX "receivables_count" ON "receivables" USING btree ("invoice_count","customer_id","currency");--> statement-breakpoint
CREATE INDEX "receivables_due" ON "receivables" USING btree ("oldest_due","customer_id","currency");--> statement-breakpoint
CREATE INDEX "receivables_not_due" ON "receivables" USING btree ("not_due","customer_id","currency");--> statement-breakpoint
CREATE INDEX "receivables_1_30" ON "receivables" USING btree ("days_1_30","customer_id","currency");--> statement-breakpoint
CREATE INDEX "receivables_31_60" ON "receivables" USING btree ("days_31_60","customer_id","currency");--> statement-breakpoint
CREATE INDEX "receivables_61_90" ON "receivables" USING btree ("days_61_90","customer_id","currency");--> statement-breakpoint
CREATE INDEX "receivables_over_90" ON "receivables" USING btree ("over_90_days","customer_id","currency");--> statement-breakpoint
CREATE INDEX "receivables_payment" ON "receivables" USING btree ("last_payment","customer_id","currency");--> statement-breakpoint
CREATE INDEX "receivables_note" ON "receivables" USING btree ("last_note","customer_id","currency");--> statement-breakpoint
CREATE INDEX "receivables_valid_from" ON "receivables" USING btree ("valid_from");--> statement-breakpoint
CREATE INDEX "receivables_valid_until" ON "receivables" USING btree ("valid_until");--> statement-breakpoint
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "invoices_amount_due" ON "invoices" USING btree ("amount_due","id");--> statement-breakpoint
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "invoices_overdue_amount" ON "invoices" USING btree ("amount_due","id") WHERE "invoices"."status" = 'overdue';--> statement-breakpoint
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "invoices_unpaid_due" ON "invoices" USING btree (coalesce("due_date", 'infinity'),"id") WHERE "invoices"."status" in ('sent', 'overdue');--> statement-breakpoint
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "invoices_unpaid_amount" ON "invoices" USING btree ("amount_due","id") WHERE "invoices"."status" in ('sent', 'overdue');
--> statement-breakpoint
-- What is owed now. The function receivables_of, which computes the same, is installed after the migrations.
INSERT INTO "receivables"
  SELECT o.customer_id, o.currency, sum(o.amount_due)::numeric(24,3), count(*)::int, min(o.due),
    coalesce(sum(o.amount_due) FILTER (WHERE current_date <= o.due), 0)::numeric(24,3),
    coalesce(sum(o.amount_due) FILTER (WHERE current_date - o.due BETWEEN 1 AND 30), 0)::numeric(24,3),
    coalesce(sum(o.amount_due) FILTER (WHERE current_date - o.due BETWEEN 31 AND 60), 0)::numeric(24,3),
    coalesce(sum(o.amount_due) FILTER (WHERE current_date - o.due BETWEEN 61 AND 90), 0)::numeric(24,3),
    coalesce(sum(o.amount_due) FILTER (WHERE current_date - o.due > 90), 0)::numeric(24,3),
    greatest(
      (SELECT max(p.payment_date) FROM payments p WHERE p.customer_id = o.customer_id AND p.status = 'completed'),
      (SELECT max(t.payment_date) FROM transfers t WHERE t.customer_id = o.customer_id), '-infinity'),
    coalesce((SELECT max(n.created_at) FROM customer_notes n WHERE n.customer_id = o.customer_id), '-infinity'),
    max(CASE WHEN current_date <= o.due THEN '-infinity' ELSE o.due + CASE WHEN current_date - o.due > 90 THEN 91
      WHEN current_date - o.due > 60 THEN 61 WHEN current_date - o.due > 30 THEN 31 ELSE 1 END END),
    min(CASE WHEN current_date - o.due > 90 THEN 'infinity' ELSE o.due + CASE WHEN current_date - o.due > 60 THEN 91
      WHEN current_date - o.due > 30 THEN 61 WHEN current_date > o.due THEN 31 ELSE 1 END END)
  FROM (
    SELECT i.customer_id, i.currency, i.amount_due, coalesce(i.due_date, i.invoice_date) AS due
    FROM invoices i WHERE i.status IN ('sent', 'overdue')
  ) o GROUP BY o.customer_id, o.currency;
