/** At most `limit` uses in each window of `seconds`. */
export interface Rate {
  readonly limit: number;
  readonly seconds: number;
}
