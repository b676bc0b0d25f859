-- Finds Stripe's invoices whose credit notes are not stored yet.
-- Functions: 05d1ba73702fa849754e91ecbc5c08f8fea6db322368f59fa3edd5e92c86530c
-- Few invoices are credited, so the lock is short.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "invoices_credited" ON "invoices" USING btree ("id") WHERE "invoices"."stripe_invoice_id" is not null and "invoices"."amount_credited" > 0;