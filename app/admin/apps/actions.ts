'use server';

import { z } from 'zod';
import { disconnectApp } from '@/lib/oauth/connected-apps';
import { staffAction } from '../_components/page/staff-action';

/** Ends a connected app's access on one device immediately. Staff can disconnect their own apps, and admins any app. */
export const disconnect = staffAction({
  role: 'staff',
  input: [z.string()],
  run: ({ runtime: { db }, staff, actor }, id) =>
    disconnectApp(db, id, { of: staff.role === 'admin' ? null : staff.id, actor }),
  done: () => '/admin/apps?notice=disconnected',
  refused: () => '/admin/apps?notice=disconnected',
});
