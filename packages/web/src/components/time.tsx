const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

interface Properties {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** Only the time of day. */
  readonly clock?: boolean | undefined;
}

/** A point in time, in the reader's time zone. */
export function Time({ at, clock = false }: Properties) {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()} className="number">
      {(clock ? CLOCK : SHORT).format(date)}
    </time>
  );
}
