import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import type { Attributes, Span } from '@opentelemetry/api';
import type * as ExportSpans from './export-spans';
import type { SpanExport, SpanKindName } from './export-spans';

// Spans at the few places that all work goes through. Without an endpoint nothing of OpenTelemetry
// is loaded, and each place costs one comparison. Attributes have names, codes and counts: never a
// value of a request, never a statement's parameters.

const load = createRequire(__filename);

interface TracingState {
  exporting: SpanExport;
  current: AsyncLocalStorage<Span>;
}

let traced: TracingState | undefined;

export interface TracingOptions {
  /** Where spans are sent, by OTLP over HTTP; absent: there are none. */
  endpoint: string | undefined;
  /** The part of the traces that begin here which is sent, from 0 to 1. */
  ratio: number;
  version: string;
}

export function startTracing({ endpoint, ...options }: TracingOptions): void {
  if (endpoint === undefined || traced) return;
  const { exportSpans } = load('./export-spans') as typeof ExportSpans;
  const exporting = exportSpans({ endpoint, ...options });
  traced = { exporting, current: new AsyncLocalStorage() };
}

/** Sends the remaining spans, for a limited time: a receiver that is away must not delay a stop. */
export async function stopTracing(): Promise<void> {
  const ending = traced;
  traced = undefined;
  await ending?.exporting.stop();
}

export const traceId = (): string | undefined => traced?.current.getStore()?.spanContext().traceId;

/** The header by which a request to another service continues the trace; empty without a trace. */
export function traceHeaders(): Record<string, string> {
  const span = traced?.current.getStore();
  if (!span) return {};
  const { traceId: id, spanId, traceFlags } = span.spanContext();
  return { traceparent: `00-${id}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}` };
}

interface SpanOptions {
  kind?: SpanKindName;
  attributes?: Attributes;
  /** It may begin a trace; other spans are only parts of one. */
  begins?: boolean;
}

/** Does the work in a span; the span is undefined where nothing is traced. */
export function inSpan<T>(
  name: string,
  { kind = 'INTERNAL', attributes = {}, begins = false }: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const parent = traced?.current.getStore();
  if (!traced || (!parent && !begins)) return work(undefined);
  const { exporting, current } = traced;
  const span = exporting.begin(name, { kind, attributes, parent });
  return current.run(span, async () => {
    try {
      return await work(span);
    } catch (error) {
      exporting.fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/**
 * Begins the span of a request, which continues the trace of `traceparent`. Its caller ends it.
 */
export const beginRequest = (method: string, traceparent: string | undefined): Span | undefined =>
  traced?.exporting.begin(method, {
    kind: 'SERVER',
    attributes: { 'http.request.method': method },
    traceparent,
  });

/** Calls the handler of a request within the request's span. */
export const within = (span: Span | undefined, call: () => void): void =>
  span && traced ? traced.current.run(span, call) : call();

interface Answer {
  operation_id: string | undefined;
  /** The path of the contract, with names in place of values. */
  route: string | undefined;
  status: number;
}

export function endRequest(span: Span, method: string, { operation_id, route, status }: Answer) {
  if (route) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
  if (operation_id) span.setAttribute('trunkline.operation_id', operation_id);
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) traced?.exporting.fail(span, undefined);
  span.end();
}
