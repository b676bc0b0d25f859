import { AsyncLocalStorage } from 'node:async_hooks';
import type { TracingChannel } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import { watchStatements } from '@/db/failed-statements';
import { perProcess } from '@/db/per-process';
import type { Logger } from './log';

/**
 * A span before it starts. It must not contain parameters, URLs, IP addresses or anything else that could be personal
 * data.
 */
interface NewSpan {
  name: string;
  kind: 'server' | 'client' | 'internal';
  attributes?: Attributes;
}

interface Tracing {
  /** Runs work in a span. A rejection marks the span as failed. */
  inSpan<T>(span: NewSpan, work: () => Promise<T>): Promise<T>;
  /** Runs a request's handler in a span that ends with the response. */
  inRequestSpan(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /** Sends the remaining spans and ends tracing. */
  close(): Promise<void>;
}

// Next's bundles and our server share this state. `opened` is undefined while no traces are exported.
const held = perProcess('tracing', () => ({ opened: undefined as Tracing | undefined }));

/** Runs work in a span, or without one if no traces are exported. */
export function inSpan<T>(span: NewSpan, work: () => Promise<T>): Promise<T> {
  return held.opened ? held.opened.inSpan(span, work) : work();
}

/** Runs a request's handler in a span, or without one if no traces are exported. */
export function inRequestSpan(request: IncomingMessage, response: ServerResponse, handle: () => void): void {
  if (held.opened) held.opened.inRequestSpan(request, response, handle);
  else handle();
}

/** Sends the remaining spans and ends tracing. Does nothing if no traces are exported. */
export async function closeTracing(): Promise<void> {
  const { opened } = held;
  held.opened = undefined;
  watchStatements(undefined);
  await opened?.close();
}

/** A request to another service. Tracing adds the headers that continue the trace there. */
interface Call {
  name: string;
  headers: Record<string, string>;
}

interface Settings {
  /** URL of the collector, without the path `/v1/traces`. */
  endpoint: string;
  version: string;
  /** Returns the route of a path. The path itself may contain a secret, such as the token of an invitation. */
  nameRoute(path: string): string;
  /** Channel on which the program announces its requests to other services. */
  calls: TracingChannel<unknown, Call>;
  log: Logger;
}

/** Starts to record and export spans. Loads OpenTelemetry only here, because most servers do not need it. */
export async function openTracing(settings: Settings): Promise<void> {
  const tracing = await createTracing(settings);
  held.opened = tracing;
  watchStatements((statement, query) =>
    tracing.inSpan(
      {
        name: /^\s*\w+/.exec(statement)?.[0].trim().toLowerCase() ?? 'statement',
        kind: 'client',
        attributes: { 'db.system.name': 'postgresql', 'db.query.text': statement.slice(0, MAX_STATEMENT) },
      },
      query,
    ),
  );
}

const MAX_STATEMENT = 4000;
/** Time limit for sending spans, so that an unresponsive collector cannot delay the end of the process for long. */
const EXPORT_MS = 2000;

async function createTracing({ endpoint, version, nameRoute, calls, log }: Settings): Promise<Tracing> {
  const { defaultTextMapGetter, defaultTextMapSetter, diag, DiagLogLevel, ...api } = await import(
    '@opentelemetry/api'
  );
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api;
  const { W3CTraceContextPropagator } = await import('@opentelemetry/core');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');

  const warn = () => log.warn('traces could not be exported');
  const ignore = () => {};
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_MS,
  });
  // Do not register the provider globally, because Next would then add spans with complete URLs.
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'w5t', 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('w5t');
  const propagator = new W3CTraceContextPropagator();
  const active = new AsyncLocalStorage<Context>();
  const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

  const start = ({ name, kind, attributes = {} }: NewSpan, parent = active.getStore() ?? ROOT_CONTEXT) => {
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, parent);
    return { span, context: trace.setSpan(parent, span) };
  };

  const spansOfCalls = new WeakMap<Call, Span>();
  const callWatcher = {
    start(call: Call) {
      const { span, context } = start({ name: call.name, kind: 'client' });
      spansOfCalls.set(call, span);
      propagator.inject(context, call.headers, defaultTextMapSetter);
    },
    end: ignore,
    asyncStart: ignore,
    error: (call: Call) => void spansOfCalls.get(call)?.setStatus({ code: SpanStatusCode.ERROR }),
    asyncEnd: (call: Call) => void spansOfCalls.get(call)?.end(),
  };
  calls.subscribe(callWatcher);

  return {
    async inSpan(named, work) {
      const { span, context } = start(named);
      try {
        return await active.run(context, work);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR }); // Omit the message, which may contain personal data.
        throw error;
      } finally {
        span.end();
      }
    },
    inRequestSpan(request, response, handle) {
      const { url = '', method = '', headers } = request;
      const [path = ''] = url.split('?', 1);
      const route = nameRoute(path);
      const { span, context } = start(
        {
          name: `${method} ${route}`,
          kind: 'server',
          attributes: { 'http.request.method': method, 'http.route': route },
        },
        propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter),
      );
      response.once('close', () => {
        span.setAttribute('http.response.status_code', response.statusCode);
        if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      active.run(context, handle);
    },
    async close() {
      calls.unsubscribe(callWatcher);
      // If the collector does not answer, lose the remaining spans, so that the process still ends normally.
      await provider.shutdown().catch(warn);
    },
  };
}
