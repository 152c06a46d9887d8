import { setTimeout } from 'node:timers/promises';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

// The only file that loads the SDK of OpenTelemetry, and it is loaded only where spans are sent.

export type SpanKindName = keyof typeof SpanKind;

export interface SpanStart {
  kind: SpanKindName;
  attributes: Attributes;
  parent?: Span | undefined;
  /** The value of the header traceparent. */
  traceparent?: string | undefined;
}

export interface SpanExport {
  begin(name: string, options: SpanStart): Span;
  /** Marks a span as failed, with the class of the error: its message may have values. */
  fail(span: Span, error: unknown): void;
  stop(): Promise<void>;
}

interface ExportOptions {
  endpoint: string;
  ratio: number;
  version: string;
}

const EXPORT_TIMEOUT_MS = 5_000;
const STOP_TIMEOUT_MS = 1_000;

/**
 * Sends spans in batches, apart from the work that they are about. While the receiver is away, they
 * are kept up to a limit, and dropped beyond it.
 */
export function exportSpans({ endpoint, ratio, version }: ExportOptions): SpanExport {
  const url = `${endpoint}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.name': 'trunkline', 'service.version': version }),
    ),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('trunkline', version);
  return {
    begin: (name, { kind, attributes, parent, traceparent }) =>
      tracer.startSpan(
        name,
        { kind: SpanKind[kind], attributes },
        parent ? trace.setSpan(ROOT_CONTEXT, parent) : parseContext(traceparent),
      ),
    fail: (span, error) => {
      span.setStatus({ code: SpanStatusCode.ERROR });
      if (error instanceof Error) span.setAttribute('error.type', error.constructor.name);
    },
    stop: async () => {
      const stopped = provider.shutdown().catch(() => undefined);
      await Promise.race([stopped, setTimeout(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}

/** W3C Trace Context: version, trace, span and flags; zeros are no ids. */
const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/;

function parseContext(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (!traceId || !spanId) return ROOT_CONTEXT;
  const traceFlags = parseInt(flags!, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
