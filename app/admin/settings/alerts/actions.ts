'use server';

import { sendTestAlert } from '@/lib/alerts/watch-alerts';
import { staffAction } from '../../_components/page/staff-action';

/** Sends a test alert to all channels. The page then shows whether the delivery succeeded. */
export const sendTest = staffAction({
  role: 'admin',
  input: [],
  run: ({ runtime, staff }) => sendTestAlert(runtime, staff.email),
  done: () => '/admin/settings/alerts?notice=sent',
  refused: ({ code }) => `/admin/settings/alerts?notice=${code === 'conflict' ? 'no_channel' : 'failed'}`,
});
