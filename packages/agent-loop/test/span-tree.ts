// The spans of the real `@ai-sdk/otel` as a tree, in memory.
import { OpenTelemetry, type LegacyOpenTelemetry } from '@ai-sdk/otel'
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
export function spanRecorder(
  options: ConstructorParameters<typeof OpenTelemetry>[0] = {},
  Integration: typeof OpenTelemetry | typeof LegacyOpenTelemetry = OpenTelemetry,
) {
  const exporter = new InMemorySpanExporter()
  const started: ReadableSpan[] = []
  const order: SpanProcessor = {
    onStart: span => void started.push(span),
    onEnd: () => {},
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  }
  const provider = new BasicTracerProvider({ spanProcessors: [order, new SimpleSpanProcessor(exporter)] })
  return {
    integration: new Integration({ tracer: provider.getTracer('test'), ...options }),
    /** Those that have ended. */
    get spans(): readonly ReadableSpan[] {
      return exporter.getFinishedSpans()
    },
    get startedCount() {
      return started.length
    },
    tree: () => treeOf(started),
  }
}

/** Children below their parents, in the order in which they were told; a span that failed is marked. */
function treeOf(spans: readonly ReadableSpan[]): string {
  const ids = new Set(spans.map(span => span.spanContext().spanId))
  const parentOf = ({ parentSpanContext }: ReadableSpan) =>
    ids.has(parentSpanContext?.spanId ?? '') ? parentSpanContext!.spanId : undefined
  const below = (parentId: string | undefined, indent: string): readonly string[] =>
    spans
      .filter(span => parentOf(span) === parentId)
      .flatMap(span => [`${indent}${nameOf(span)}`, ...below(span.spanContext().spanId, `${indent}  `)])
  return below(undefined, '').join('\n')
}

function nameOf({ name, status }: ReadableSpan): string {
  return status.code === SpanStatusCode.ERROR ? `${name} !` : name
}
