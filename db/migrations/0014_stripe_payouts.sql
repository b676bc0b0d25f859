-- Payouts of Stripe with their balance transactions, and the bank entries that they are.
-- Functions: 4d630107fabc42bad509369387eb8312e0af0b0462ec7eab50d571bd04427d76
CREATE TABLE "stripe_payout_entries" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "stripe_payout_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"payout_id" integer NOT NULL,
	"stripe_transaction_id" text NOT NULL,
	"type" text NOT NULL,
	"amount" numeric(15, 3) NOT NULL,
	"fee" numeric(15, 3) NOT NULL,
	"net" numeric(15, 3) NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"source_id" text,
	"stripe_payment_intent_id" text,
	"stripe_invoice_id" text,
	CONSTRAINT "stripe_payout_entries_transaction" UNIQUE("payout_id","stripe_transaction_id")
);
--> statement-breakpoint
CREATE TABLE "stripe_payouts" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "stripe_payouts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"stripe_payout_id" text NOT NULL,
	"amount" numeric(15, 3) NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"status" text NOT NULL,
	"failure_code" text,
	"is_automatic" boolean NOT NULL,
	"is_listed" boolean NOT NULL,
	"arrival_date" date NOT NULL,
	"issued_at" timestamp with time zone NOT NULL,
	"sums" jsonb,
	"differences" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "stripe_payouts_stripe_payout_id_unique" UNIQUE("stripe_payout_id"),
	CONSTRAINT "stripe_payouts_currency_iso" CHECK ("stripe_payouts"."currency" ~ '^[a-z]{3}$')
);
--> statement-breakpoint
ALTER TABLE "bank_entries" ADD COLUMN "payout_id" integer;--> statement-breakpoint
ALTER TABLE "stripe_payout_entries" ADD CONSTRAINT "stripe_payout_entries_payout_id_stripe_payouts_id_fk" FOREIGN KEY ("payout_id") REFERENCES "public"."stripe_payouts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "stripe_payout_entries_intent" ON "stripe_payout_entries" USING btree ("stripe_payment_intent_id") WHERE "stripe_payout_entries"."stripe_payment_intent_id" is not null;--> statement-breakpoint
CREATE INDEX "stripe_payout_entries_invoice" ON "stripe_payout_entries" USING btree ("stripe_invoice_id") WHERE "stripe_payout_entries"."stripe_invoice_id" is not null;--> statement-breakpoint
CREATE INDEX "stripe_payouts_arrival" ON "stripe_payouts" USING btree ("arrival_date","id");--> statement-breakpoint
CREATE INDEX "stripe_payouts_different" ON "stripe_payouts" USING btree ("id") WHERE "stripe_payouts"."differences" <> '[]';--> statement-breakpoint
CREATE INDEX "stripe_payouts_unread" ON "stripe_payouts" USING btree ("id") WHERE "stripe_payouts"."sums" is null and "stripe_payouts"."is_listed";--> statement-breakpoint
-- Migrations run in one transaction. No bank entry names a payout yet, so that both take milliseconds.
-- squawk-ignore constraint-missing-not-valid, adding-foreign-key-constraint
ALTER TABLE "bank_entries" ADD CONSTRAINT "bank_entries_payout_id_stripe_payouts_id_fk" FOREIGN KEY ("payout_id") REFERENCES "public"."stripe_payouts"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX "bank_entries_payout" ON "bank_entries" USING btree ("payout_id") WHERE "bank_entries"."payout_id" is not null;