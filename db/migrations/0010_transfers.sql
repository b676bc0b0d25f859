-- Transfers: money that a customer paid once, spread over several invoices, with the rest as credit.
-- Functions: f93b621620a6b4bccc71263b4f63ffee61e8f0a81e442269c994aac73e53d39d
CREATE TABLE "transfers" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "transfers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"customer_id" integer NOT NULL,
	"amount" numeric(15, 3) NOT NULL,
	"credit" numeric(15, 3) NOT NULL,
	"paid_back" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"payment_date" date NOT NULL,
	"reference" text NOT NULL,
	"method" text,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "transfers_reference_unique" UNIQUE("reference"),
	CONSTRAINT "transfers_amount" CHECK ("transfers"."amount" > 0),
	CONSTRAINT "transfers_credit" CHECK ("transfers"."credit" between 0 and "transfers"."amount"),
	CONSTRAINT "transfers_reference" CHECK (length("transfers"."reference") between 1 and 255),
	CONSTRAINT "transfers_currency_iso" CHECK ("transfers"."currency" ~ '^[a-z]{3}$')
);
--> statement-breakpoint
-- Migrations run in one transaction, where no index is built concurrently and no constraint is validated later. All that
-- follows takes about a second for two million payments and two million entries, and writes wait for it. No earlier
-- version writes an entry without an invoice, and none reads one.
-- squawk-ignore ban-drop-not-null
ALTER TABLE "accounting_entries" ALTER COLUMN "invoice_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "accounting_entries" ADD COLUMN "transfer_id" integer;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "transfer" text;--> statement-breakpoint
ALTER TABLE "transfers" ADD CONSTRAINT "transfers_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "transfers_customer" ON "transfers" USING btree ("customer_id","payment_date","id");--> statement-breakpoint
-- squawk-ignore constraint-missing-not-valid, adding-foreign-key-constraint
ALTER TABLE "payments" ADD CONSTRAINT "payments_transfer_transfers_reference_fk" FOREIGN KEY ("transfer") REFERENCES "public"."transfers"("reference") ON DELETE no action ON UPDATE cascade;--> statement-breakpoint
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "accounting_entries_transfer" ON "accounting_entries" USING btree ("transfer_id") WHERE "accounting_entries"."transfer_id" is not null;--> statement-breakpoint
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "payments_transfer" ON "payments" USING btree ("transfer") WHERE "payments"."transfer" is not null;--> statement-breakpoint
-- squawk-ignore constraint-missing-not-valid
ALTER TABLE "accounting_entries" ADD CONSTRAINT "accounting_entries_subject" CHECK (num_nonnulls("accounting_entries"."invoice_id", "accounting_entries"."transfer_id") = 1);