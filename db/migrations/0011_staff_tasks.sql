CREATE TABLE "staff_tasks" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "staff_tasks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"message" text NOT NULL,
	"entity" text,
	"entity_id" integer,
	"done_at" timestamp with time zone,
	"done_by" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "staff_tasks_subject" UNIQUE("kind","subject")
);
--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "collected_by_payment_id" integer;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "stripe_charge_id" text;--> statement-breakpoint
CREATE INDEX "staff_tasks_open" ON "staff_tasks" USING btree ("id") WHERE "staff_tasks"."done_at" is null;--> statement-breakpoint
CREATE INDEX "staff_tasks_entity" ON "staff_tasks" USING btree ("entity","entity_id");--> statement-breakpoint
CREATE INDEX "payments_stripe_charge" ON "payments" USING btree ("stripe_charge_id") WHERE "payments"."stripe_charge_id" is not null;
-- Functions: 099d58a9163ac4d36f841b78b0bf36eae5f33822bdb9b53c7e60442e1f273124
