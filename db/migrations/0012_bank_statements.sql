-- Uploaded bank statements, their entries, and the accounts from which customers pay.
-- Functions: 89ef249150001d2673778b5ff569f98e8cac565a92ba486922fb2f734dc5543f
CREATE TYPE "public"."bank_entry_state" AS ENUM('open', 'ignored', 'returned');--> statement-breakpoint
CREATE TABLE "bank_entries" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "bank_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"statement_id" integer NOT NULL,
	"account" text NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"day" date NOT NULL,
	"amount" numeric(15, 3) NOT NULL,
	"name" text DEFAULT '' NOT NULL,
	"iban" text DEFAULT '' NOT NULL,
	"purpose" text DEFAULT '' NOT NULL,
	"bank_reference" text DEFAULT '' NOT NULL,
	"is_return" boolean DEFAULT false NOT NULL,
	"fingerprint" text NOT NULL,
	"state" "bank_entry_state" DEFAULT 'open' NOT NULL,
	"transfer_id" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "bank_entries_fingerprint" UNIQUE("account","fingerprint")
);
--> statement-breakpoint
CREATE TABLE "bank_rules" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "bank_rules_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"iban" text NOT NULL,
	"customer_id" integer NOT NULL,
	"actor_type" "actor_type" NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "bank_rules_iban_unique" UNIQUE("iban")
);
--> statement-breakpoint
CREATE TABLE "bank_statements" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "bank_statements_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account" text NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"first_day" date NOT NULL,
	"last_day" date NOT NULL,
	"opening" numeric(15, 3),
	"closing" numeric(15, 3),
	"booked" numeric(15, 3) NOT NULL,
	"entry_count" integer NOT NULL,
	"file_name" text NOT NULL,
	"file_sha256" text NOT NULL,
	"actor_type" "actor_type" NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "bank_statements_file" UNIQUE("account","file_sha256")
);
--> statement-breakpoint
ALTER TABLE "bank_entries" ADD CONSTRAINT "bank_entries_statement_id_bank_statements_id_fk" FOREIGN KEY ("statement_id") REFERENCES "public"."bank_statements"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bank_entries" ADD CONSTRAINT "bank_entries_transfer_id_transfers_id_fk" FOREIGN KEY ("transfer_id") REFERENCES "public"."transfers"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bank_rules" ADD CONSTRAINT "bank_rules_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "bank_entries_statement" ON "bank_entries" USING btree ("statement_id");--> statement-breakpoint
CREATE INDEX "bank_entries_day" ON "bank_entries" USING btree ("account","day","id");--> statement-breakpoint
CREATE INDEX "bank_entries_iban" ON "bank_entries" USING btree ("iban","id") WHERE "bank_entries"."iban" <> '';--> statement-breakpoint
CREATE UNIQUE INDEX "bank_entries_transfer" ON "bank_entries" USING btree ("transfer_id") WHERE "bank_entries"."transfer_id" is not null;--> statement-breakpoint
CREATE INDEX "bank_rules_customer" ON "bank_rules" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "bank_statements_last_day" ON "bank_statements" USING btree ("last_day","id");--> statement-breakpoint
CREATE INDEX "bank_statements_account" ON "bank_statements" USING btree ("account","last_day","id");
