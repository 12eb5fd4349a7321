// Records traces with OpenTelemetry's SDK, which sends them in batches in the background.
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { NO_STEP, type OpenExtension, type ServiceLog, type TraceStep } from "@sotto/server";
import { Counter, type Registry } from "prom-client";
import { TraceLimits } from "./limits.ts";

export interface TraceOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum requests of each kind that are traced in a minute. */
  readonly perMinute: number;
  readonly log: Pick<ServiceLog, "warn">;
  readonly metrics: Registry;
  /** Now, ms. */
  readonly clock: () => number;
}

/** Steps that wait to be sent; those beyond are dropped. */
const MAX_WAITING = 2_048;
const SEND_EVERY_MS = 2_000;
const TIMEOUT_MS = 5_000;
/** How long the end of the service waits for the collector. */
const CLOSE_MS = 2_000;

/** Counts the results of another exporter. It logs none of its errors, which quote the collector's URL. */
class CountedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #count: (failed: boolean, steps: number) => void;

  constructor(exporter: SpanExporter, count: (failed: boolean, steps: number) => void) {
    this.#exporter = exporter;
    this.#count = count;
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter["export"]>[1]): void {
    this.#exporter.export(spans, (result) => {
      this.#count(result.code !== 0, spans.length);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

/** Starts to send traces. */
export function openTraces({ url, headers, perMinute, log, metrics, clock }: TraceOptions): OpenExtension {
  const requests = new Counter({
    name: "sotto_traces_requests_total",
    help: "requests by whether they are traced: recorded, or limited by SOTTO_TRACES_PER_MINUTE",
    labelNames: ["result"],
    registers: [metrics],
  });
  const sent = new Counter({
    name: "sotto_traces_steps_total",
    help: "steps of traces by whether the collector accepted them: sent, or failed",
    labelNames: ["result"],
    registers: [metrics],
  });
  for (const result of ["recorded", "limited"]) requests.inc({ result }, 0);
  for (const result of ["sent", "failed"]) sent.inc({ result }, 0);
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: TIMEOUT_MS });
  const counted = new CountedExporter(exporter, (failed, steps) => {
    sent.inc({ result: failed ? "failed" : "sent" }, steps);
    if (failed) log.warn({ code: "TRACES_NOT_SENT" }, "the collector of traces does not accept them");
  });
  const provider = new TracerProvider({
    // Nothing about the machine.
    resource: resourceFromAttributes({ "service.name": "sotto" }),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: counted, maxQueueSize: MAX_WAITING, scheduledDelayMillis: SEND_EVERY_MS }),
    ],
  });
  const tracer = provider.getTracer("sotto");
  const limits = new TraceLimits(perMinute, clock);
  const take = (kind: Parameters<TraceLimits["take"]>[0]) => {
    const recorded = limits.take(kind);
    requests.inc({ result: recorded ? "recorded" : "limited" });
    return recorded;
  };
  return {
    tracing: {
      begin(name, { parent, at = clock(), isRequest = false } = {}): TraceStep {
        const context = parent === undefined ? ROOT_CONTEXT : contextOf(parent);
        if (context === undefined) return NO_STEP;
        const kind = isRequest ? SpanKind.SERVER : SpanKind.INTERNAL;
        const span = tracer.startSpan(name, { kind, startTime: at }, context);
        let recorded = isRequest ? undefined : true;
        return {
          keep() {
            recorded ??= take("accepted");
            return recorded ? traceparentOf(span) : undefined;
          },
          end(attributes, code) {
            recorded ??= take("other");
            if (!recorded) return;
            span.setAttributes(attributes);
            if (code !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: code });
            // The clock of another replica may be ahead.
            span.end(Math.max(at, clock()));
          },
        };
      },
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      });
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

/** The context of a checked traceparent; undefined if its sender does not record the trace. */
function contextOf(parent: string): Context | undefined {
  const [, traceId = "", spanId = "", flags = ""] = parent.split("-");
  if ((Number.parseInt(flags, 16) & TraceFlags.SAMPLED) === 0) return undefined;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}
