import { Anchor } from '@mantine/core';
import { countryName } from '@/lib/countries';
import type { CustomerDetails } from '@/lib/customers/schema';
import { Section } from '../page/staff-page';

interface FactsProps {
  title?: string;
  customer: CustomerDetails;
  /** Numbers of the customers that were merged into this one. */
  mergedNumbers?: string[];
}

/** Shows the details of a customer, such as the number, address, tax and currency. */
export function CustomerFacts({ title = 'Details', customer, mergedNumbers = [] }: FactsProps) {
  const { first_name, last_name, company, email, phone } = customer;
  return (
    <Section
      title={title}
      facts={{
        Number: customer.customer_number,
        'Merged into it': mergedNumbers.join(', ') || undefined,
        Company: company || undefined,
        Person: [first_name, last_name].filter(Boolean).join(' ') || null,
        'E-mail': email && (
          <Anchor href={`mailto:${encodeURIComponent(email)}`} size="sm" fw={500}>
            {email}
          </Anchor>
        ),
        Phone: phone,
        Address: addressOf(customer),
        'VAT ID': customer.vat_id,
        Tax: customer.tax_exempt ? 'Exempt' : 'Charged',
        Currency: customer.currency.toUpperCase(),
        'Buyer reference': customer.buyer_reference ?? undefined,
        Language: customer.document_language ? LANGUAGES[customer.document_language] : undefined,
        'Payment terms': customer.payment_terms ?? undefined,
      }}
    />
  );
}

function addressOf({ street, postal_code, city, country }: CustomerDetails) {
  const lines = [street, [postal_code, city].filter(Boolean).join(' '), country && countryName(country)];
  const known = lines.filter((line): line is string => Boolean(line));
  if (known.length === 0) return null;
  return known.map((line) => (
    <span key={line} style={{ display: 'block' }}>
      {line}
    </span>
  ));
}

/** Display names of the languages in which documents can be written. */
export const LANGUAGES = { de: 'German', en: 'English' };
