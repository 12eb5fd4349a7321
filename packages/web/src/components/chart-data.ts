export interface Series {
  readonly name: string;
  readonly kind: "bars" | "points";
  /** Custom property of its colour. */
  readonly colour: "--accent" | "--warn";
  /** One value for each time. */
  readonly values: readonly (number | null)[];
}

export interface ChartData {
  /** Seconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** What the values count, in a word: "payments". */
  readonly unit: string;
}
