// The spans of the real `@ai-sdk/otel` as a tree, in memory.
import { OpenTelemetry } from '@ai-sdk/otel'
import { context, SpanStatusCode } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'

context.setGlobalContextManager(new AsyncLocalStorageContextManager())

/** An integration, and what it made. */
export function spanRecorder(options: ConstructorParameters<typeof OpenTelemetry>[0] = {}) {
  const exporter = new InMemorySpanExporter()
  let startedCount = 0
  const counter: SpanProcessor = {
    onStart: () => void startedCount++,
    onEnd: () => {},
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  }
  const provider = new BasicTracerProvider({ spanProcessors: [counter, new SimpleSpanProcessor(exporter)] })
  return {
    integration: new OpenTelemetry({ tracer: provider.getTracer('test'), ...options }),
    get spans(): readonly ReadableSpan[] {
      return exporter.getFinishedSpans()
    },
    get startedCount() {
      return startedCount
    },
    tree: () => treeOf(exporter.getFinishedSpans()),
  }
}

/** The spans in the order in which they began, children below their parents; a span that failed is marked. */
export function treeOf(spans: readonly ReadableSpan[]): string {
  const below = (parentId: string | undefined, indent: string): readonly string[] =>
    spans
      .filter(span => parentOf(span, spans) === parentId)
      .toSorted((a, b) => time(a) - time(b))
      .flatMap(span => [`${indent}${nameOf(span)}`, ...below(span.spanContext().spanId, `${indent}  `)])
  return below(undefined, '').join('\n')
}

function parentOf(span: ReadableSpan, spans: readonly ReadableSpan[]): string | undefined {
  const id = span.parentSpanContext?.spanId
  return spans.some(other => other.spanContext().spanId === id) ? id : undefined
}

function nameOf({ name, status }: ReadableSpan): string {
  return status.code === SpanStatusCode.ERROR ? `${name} !` : name
}

function time({ startTime: [seconds, nanos] }: ReadableSpan): number {
  return seconds * 1e6 + nanos / 1e3
}
