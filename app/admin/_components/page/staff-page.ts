import { notFound } from 'next/navigation';
import type { ReactNode } from 'react';
import { requireAdmin, requireStaff, type StaffMember } from '@/lib/auth/staff-session';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { type SearchParams, toId, toParams } from '../../../_components/search-params';

interface Sent<Params> {
  params: Promise<Params>;
  searchParams: Promise<SearchParams>;
}

/** Context of a page: the signed-in person, the runtime, and the parameters in the address. */
interface PageCall<Params> {
  staff: StaffMember;
  runtime: Runtime;
  params: Params;
  search: URLSearchParams;
}

function pageFor(requirePerson: () => Promise<StaffMember>) {
  return <Params = unknown>(show: (call: PageCall<Params>) => Promise<ReactNode>) =>
    async ({ params, searchParams }: Sent<Params>) => {
      const staff = await requirePerson();
      const runtime = await getRuntime();
      return show({ staff, runtime, params: await params, search: toParams(await searchParams) });
    };
}

/** Makes a page for all staff. It checks the session before it reads any data. */
export const staffPage = pageFor(requireStaff);

/** Makes a page for admins only. It checks the session before it reads any data. */
export const adminPage = pageFor(requireAdmin);

/** Parses the numeric id in a page's path. Shows the not-found page if the id is invalid. */
export const rowIdIn = ({ id }: { id: string }): number => toId(id) ?? notFound();

/** Parses the Stripe id in a page's path. Shows the not-found page if the id is invalid. */
export const stripeIdIn = ({ id }: { id: string }): string => (/^[\w-]{1,255}$/.test(id) ? id : notFound());
