import { Image } from '@mantine/core';
import { countryName } from '@/lib/countries';
import { getCompany } from '@/lib/documents/company';
import { etagOf } from '@/lib/http/messages';
import { ActionForm } from '../../_components/forms/form';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { adminPage, FormPage } from '../../_components/page/staff-page';
import { saveOurCompany } from '../actions';
import { COMPANY_FIELDS, REMOVE_LOGO } from './company-fields';

export const metadata = { title: 'Company' };

export default adminPage(async ({ runtime: { db, env }, notice }) => {
  const settings = await getCompany(db);
  const { logo, ...company } = settings;
  const typed = { ...company, country: countryName(company.country ?? env.tax.country) };
  return (
    <FormPage
      maw={720}
      title="Company"
      description="The company details on invoices. An issued invoice keeps the details it was issued with; only missing details are taken from here."
    >
      <OutcomeNotice notice={notice} done={{ saved: 'The company is saved.' }} />
      <ActionForm
        label="Company"
        isSheet
        stays
        action={saveOurCompany.bind(null, etagOf(settings))}
        fields={logo ? [...COMPANY_FIELDS, REMOVE_LOGO] : COMPANY_FIELDS}
        typed={typed}
        submit="Save"
      >
        {logo && <Image src={logo} alt="Logo" h={64} w="fit-content" maw="100%" fit="contain" />}
      </ActionForm>
    </FormPage>
  );
});
