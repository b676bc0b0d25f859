CREATE TABLE "accounting_entries" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "accounting_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"record" text NOT NULL,
	"invoice_id" integer NOT NULL,
	"payment_id" integer,
	"booked_on" date NOT NULL,
	"original_date" date NOT NULL,
	"reverses" integer,
	"customer_number" text NOT NULL,
	"customer_name" text NOT NULL,
	"invoice_number" text,
	"due_date" date,
	"payment_reference" text,
	"method" text,
	"tax_rate" numeric(15, 3),
	"net" numeric(15, 3),
	"tax" numeric(15, 3),
	"gross" numeric(15, 3) NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounting_entries_reverses" UNIQUE("reverses")
);
--> statement-breakpoint
CREATE INDEX "accounting_entries_booked" ON "accounting_entries" USING btree ("booked_on","id");--> statement-breakpoint
CREATE INDEX "accounting_entries_invoice" ON "accounting_entries" USING btree ("invoice_id");--> statement-breakpoint
CREATE INDEX "accounting_entries_payment" ON "accounting_entries" USING btree ("payment_id") WHERE "accounting_entries"."payment_id" is not null;
-- Functions: b08f0350e0b233f1b38d0ad791eba834dc56b93b60fee2b24b01c4e6fe16e7ab
