import { notFound } from 'next/navigation';
import type { ReactNode } from 'react';
import { requireAdmin, requireStaff, type StaffMember } from '@/lib/auth/staff-session';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { type SearchParams, toId, toParams } from '../../../_components/search-params';

interface Sent<Params> {
  params: Promise<Params>;
  searchParams: Promise<SearchParams>;
}

/** What a page works with: who looks at it, and what its address says. */
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

/** A page of the staff. It checks the session before it reads anything. */
export const staffPage = pageFor(requireStaff);

/** A page for admins only. It checks the session and the role before it reads anything. */
export const adminPage = pageFor(requireAdmin);

/** The numeric id in the path of a page; not found if it cannot be one. */
export const rowIdIn = ({ id }: { id: string }): number => toId(id) ?? notFound();
