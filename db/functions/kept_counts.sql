-- The lists that are counted: by the key of their order, and by each value of the columns that they filter by.
DO $$ BEGIN
  PERFORM keep_counts(
    'invoice', 'invoices', ARRAY['invoice_date', 'id'], ARRAY['day', 'row_id'], '''-infinity'', 0', ARRAY['status']);
  PERFORM keep_counts(
    'payment', 'payments', ARRAY['payment_date', 'id'], ARRAY['day', 'row_id'], '''-infinity'', 0', ARRAY['status']);
  PERFORM keep_counts(
    'sales_document', 'sales_documents', ARRAY['document_date', 'id'], ARRAY['day', 'row_id'], '''-infinity'', 0',
    ARRAY['type', 'status']);
  PERFORM keep_counts(
    'service', 'customer_services', ARRAY['service_number'], ARRAY['number'], '''''',
    ARRAY['service_type', 'status']);
END $$;
