const UNITS = [
  { seconds: 86_400, name: "d" },
  { seconds: 3_600, name: "h" },
  { seconds: 60, name: "min" },
] as const;

/** A duration in its largest whole unit: "12 s", "4 min", "3 h", "2 d". @param seconds less than 0 counts as 0 */
export function formatAge(seconds: number): string {
  const unit = UNITS.find(({ seconds: size }) => seconds >= size);
  return unit === undefined
    ? `${Math.max(0, Math.floor(seconds))} s`
    : `${Math.floor(seconds / unit.seconds)} ${unit.name}`;
}

const INTEGER = new Intl.NumberFormat("en-US");
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** "12,345" */
export const formatCount = (value: number): string => INTEGER.format(value);

/** "1 payment", "12,345 payments" */
export const formatNumberOf = (value: number, singular: string): string =>
  `${formatCount(value)} ${value === 1 ? singular : `${singular}s`}`;

/** "12.3K" */
export const formatShort = (value: number): string => COMPACT.format(value);
