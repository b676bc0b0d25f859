-- The days of the payment reminders of each invoice, and the settings of reminders.
-- Functions: 05d1ba73702fa849754e91ecbc5c08f8fea6db322368f59fa3edd5e92c86530c
CREATE TABLE "reminder_settings" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"pause_days" integer NOT NULL,
	"levels" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "reminder_settings_single" CHECK ("reminder_settings"."id" = 1)
);
--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "reminded_on" date[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
-- The index takes some seconds for ten million invoices, because few of them are unpaid.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "invoices_reminders" ON "invoices" USING btree (cardinality("reminded_on"),coalesce("due_date", "invoice_date"),"id") WHERE "invoices"."status" in ('sent', 'overdue') and not "invoices"."uncollectible"
        and ("invoices"."stripe_invoice_id" is null or "invoices"."due_date" is not null);