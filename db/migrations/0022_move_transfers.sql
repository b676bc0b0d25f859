-- Moves a transfer with the Stripe customer whose invoices it pays.
-- Functions: 24dd065d7072612e0202c0f7a231774218c2a5118babbcab9d8f906b54638863
SELECT 1;
