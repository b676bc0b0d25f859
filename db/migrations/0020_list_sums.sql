-- Sums of the lists of invoices, sales documents and services. The sums of unpaid invoices are among them, so the old
-- ones go.
-- Functions: 5ee963249bb6f71f09a7507f32e1015a72d329a8cd9947f0904998233ff6f62c
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
