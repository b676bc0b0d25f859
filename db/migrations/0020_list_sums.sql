-- Sums of the lists of invoices, sales documents and services. The sums of unpaid invoices are among them, so the old
-- ones go.
-- Functions: 9c67ba2b0dc3e66785b08c50f11a97bce0c3ee08c707413e4455d11e5cef00a0
CREATE TABLE "list_sum_deltas" (
	"list" text NOT NULL,
	"kind" text NOT NULL,
	"currency" text NOT NULL,
	"day" date NOT NULL,
	"row_count" bigint NOT NULL,
	"total" numeric(24, 3) NOT NULL,
	"tax" numeric(24, 3) NOT NULL,
	"amount_paid" numeric(24, 3) NOT NULL,
	"amount_due" numeric(24, 3) NOT NULL,
	"settled" numeric(24, 3) NOT NULL,
	"written_off" numeric(24, 3) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "list_sums" (
	"list" text NOT NULL,
	"kind" text NOT NULL,
	"currency" text NOT NULL,
	"day" date NOT NULL,
	"row_count" bigint NOT NULL,
	"total" numeric(24, 3) NOT NULL,
	"tax" numeric(24, 3) NOT NULL,
	"amount_paid" numeric(24, 3) NOT NULL,
	"amount_due" numeric(24, 3) NOT NULL,
	"settled" numeric(24, 3) NOT NULL,
	"written_off" numeric(24, 3) NOT NULL,
	CONSTRAINT "list_sums_list_day_kind_currency_pk" PRIMARY KEY("list","day","kind","currency")
);
--> statement-breakpoint
DROP TRIGGER IF EXISTS sum_inserted ON "invoices";
--> statement-breakpoint
DROP TRIGGER IF EXISTS sum_deleted ON "invoices";
--> statement-breakpoint
DROP TRIGGER IF EXISTS sum_truncated ON "invoices";
--> statement-breakpoint
DROP TRIGGER IF EXISTS sum_updated ON "invoices";
--> statement-breakpoint
DROP FUNCTION IF EXISTS sum_invoices();
--> statement-breakpoint
DROP FUNCTION IF EXISTS sum_of_invoice(invoices);
--> statement-breakpoint
DELETE FROM "sums" WHERE "of" IN ('sent', 'overdue');
--> statement-breakpoint
DELETE FROM "sum_deltas" WHERE "of" IN ('sent', 'overdue');
