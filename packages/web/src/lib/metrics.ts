// Parses the subset of Prometheus' text format that this page needs.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

/** Ignores comments, and lines that are not samples. */
export function parseMetrics(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const found = LINE.exec(line);
    if (line.startsWith("#") || found === null) return [];
    const [, name = "", labels = "", value = ""] = found;
    const number = value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value);
    if (Number.isNaN(number)) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, label = "", text = ""]) => [label, text.replace(/\\(.)/g, "$1")]);
    return [{ name, labels: Object.fromEntries(pairs), value: number }];
  });
}

/** Sum of all samples with this name; undefined if there is none. */
export function sumOf(samples: readonly Sample[], name: string): number | undefined {
  const found = samples.filter((sample) => sample.name === name);
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}

export interface Latency {
  readonly route: string;
  readonly requests: number;
  /** Maximum seconds that the given share of the requests took: the bound of a bucket, so an upper estimate. */
  readonly median: number;
  readonly p95: number;
}

/** Latencies of each route of a histogram, the busiest route first. */
export function latenciesOf(samples: readonly Sample[], histogram: string): Latency[] {
  const routes = new Map<string, Map<number, number>>();
  for (const { name, labels, value } of samples) {
    const { le, method = "", route = "" } = labels;
    if (name !== `${histogram}_bucket` || le === undefined) continue;
    const bound = le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le);
    const key = `${method} ${route}`;
    const buckets = routes.get(key) ?? new Map<number, number>();
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
    routes.set(key, buckets);
  }
  return [...routes]
    .map(([route, buckets]): Latency => {
      const sorted = [...buckets].sort(([a], [b]) => a - b);
      const requests = sorted.at(-1)?.[1] ?? 0;
      const within = (share: number) => sorted.find(([, count]) => count >= requests * share)?.[0] ?? 0;
      return { route, requests, median: within(0.5), p95: within(0.95) };
    })
    .filter(({ requests }) => requests > 0)
    .sort((a, b) => b.requests - a.requests);
}
