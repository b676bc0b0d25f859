import { cronRoute } from '../../http/cron-route';
import { healthRoute, livenessRoute } from '../../http/health-route';
import type { Route } from '../../http/messages';
import { metricsRoute } from '../../http/metrics-route';
import { paymentRoute, paymentsRoute } from '../../http/payments-route';
import { webhookRoute } from '../../http/webhook-route';
import { mcpRoute } from '../../mcp/handle-request';
import { openApiRoute } from '../../openapi/document';

/** The routes that our server handles without Next, keyed by their path in `app`. Next has the same handlers. */
export const FAST_ROUTES: Record<string, Route> = {
  '/mcp': mcpRoute,
  '/api/w5t/payments': paymentsRoute,
  '/api/w5t/payments/[id]': paymentRoute,
  '/api/stripe/webhook': webhookRoute,
  '/api/cron/reconcile': cronRoute,
  '/api/health': healthRoute,
  '/api/health/live': livenessRoute,
  '/metrics': metricsRoute,
  '/api/openapi.json': openApiRoute,
};
