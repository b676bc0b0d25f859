-- The state at the end of each month for the reports, and the monthly sums of the journal.
-- Functions: 4d630107fabc42bad509369387eb8312e0af0b0462ec7eab50d571bd04427d76
CREATE TABLE "month_states" (
	"month" date NOT NULL,
	"measure" text NOT NULL,
	"currency" text NOT NULL,
	"row_count" integer NOT NULL,
	"amount" numeric(24, 6) NOT NULL,
	CONSTRAINT "month_states_month_measure_currency_pk" PRIMARY KEY("month","measure","currency")
);
--> statement-breakpoint
CREATE TABLE "mrr_changes" (
	"month" date NOT NULL,
	"customer_id" integer NOT NULL,
	"currency" text NOT NULL,
	"kind" text NOT NULL,
	"change" numeric(24, 6) NOT NULL
);
--> statement-breakpoint
-- The table is new, so that no row is checked.
-- squawk-ignore adding-foreign-key-constraint
ALTER TABLE "mrr_changes" ADD CONSTRAINT "mrr_changes_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "mrr_changes_month" ON "mrr_changes" USING btree ("month","kind","currency");--> statement-breakpoint
CREATE INDEX "mrr_changes_customer" ON "mrr_changes" USING btree ("customer_id");
--> statement-breakpoint
-- What the journal has so far. It takes some seconds for ten million entries. The triggers that add what follows are
-- installed after the migrations, in the same transaction.
INSERT INTO "sums"
  SELECT amounts.of || e.record, e.booked_on - extract(day FROM e.booked_on)::int + 1, e.currency, count(*),
    sum(amounts.amount)::numeric(24,3)
  FROM "accounting_entries" e, LATERAL (VALUES ('booked_', e.gross), ('net_', e.net)) amounts(of, amount)
  WHERE e.record IN ('invoice', 'credit', 'payment', 'refund') AND amounts.amount IS NOT NULL
  GROUP BY 1, 2, 3;
