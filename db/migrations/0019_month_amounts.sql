-- What each customer contributes to the numbers of the months, in place of the changes of recurring revenue, and an index
-- for the postings behind a number. The functions of a commit are planned once for each connection.
-- Functions: 11ec8562cc5c70be8a136cde0350fd07c25f5cbe8686a27aa6a0e3b5ec7bbb07
CREATE TABLE "month_amounts" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "month_amounts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"measure" text NOT NULL,
	"currency" text NOT NULL,
	"customer_id" integer NOT NULL,
	"amount" numeric(24, 6) NOT NULL,
	"first_month" date NOT NULL,
	"until_month" date NOT NULL
);
--> statement-breakpoint
-- The table is new, so that no row is checked.
-- squawk-ignore adding-foreign-key-constraint
ALTER TABLE "month_amounts" ADD CONSTRAINT "month_amounts_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "month_amounts_measure" ON "month_amounts" USING btree ("measure","currency","customer_id","id");--> statement-breakpoint
CREATE INDEX "month_amounts_customer" ON "month_amounts" USING btree ("customer_id","id");
--> statement-breakpoint
-- No released version has stored changes, so that there are at most those of some months.
INSERT INTO "month_amounts" ("measure", "currency", "customer_id", "amount", "first_month", "until_month")
  SELECT 'mrr', "currency", "customer_id", "amount", "month", "until" FROM (
    SELECT "currency", "customer_id", "month", sum(sum("change")) OVER customer_months AS "amount",
      coalesce(lead("month") OVER customer_months, 'infinity') AS "until"
    FROM "mrr_changes" GROUP BY "currency", "customer_id", "month"
    WINDOW customer_months AS (PARTITION BY "customer_id", "currency" ORDER BY "month")
  ) "months" WHERE "amount" <> 0
  UNION ALL SELECT 'mrr_' || "kind", "currency", "customer_id", "change", "month", ("month" + interval '1 month')::date
    FROM "mrr_changes" WHERE "kind" <> 'first';
--> statement-breakpoint
-- squawk-ignore ban-drop-table
DROP TABLE "mrr_changes";
--> statement-breakpoint
-- It takes about a minute for twenty million entries.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "accounting_entries_kind" ON "accounting_entries" USING btree ("record","currency","booked_on","id");
--> statement-breakpoint
DROP FUNCTION IF EXISTS remove_if_empty(int);
