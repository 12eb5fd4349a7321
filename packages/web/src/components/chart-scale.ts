// The scales of a chart, including a chart with a single value.
import { formatShort } from "../lib/age.ts";
import type { ChartData } from "./chart-data.ts";

/** Seconds on each side of a single point. */
const ALONE = 1_800;

/** Half a step of room at both ends, so that no bar is cut. */
export function xRange(times: ArrayLike<number>): [number, number] {
  const [first = 0, second] = Array.from(times);
  const half = second === undefined ? ALONE : Math.max(1, (second - first) / 2);
  return [first - half, (times[times.length - 1] ?? first) + half];
}

export const areWhole = (series: ChartData["series"]): boolean =>
  series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)));

/** Axes of counts have no ticks between whole numbers. */
export function markOf(mark: number, whole: boolean): string {
  if (Number.isInteger(mark)) return formatShort(mark);
  return whole ? "" : String(Number(mark.toPrecision(3)));
}

/** Bars begin at 0. Without bars, the scale begins near the lowest point, so that differences use the full height. */
export function yRange(series: ChartData["series"], min: number, max: number): [number, number] {
  if (series.some(({ kind }) => kind === "bars")) return [0, areWhole(series) ? Math.max(1, max * 1.1) : max * 1.1];
  return [min * 0.9, Math.max(min * 0.9 + 1, max * 1.1)];
}
