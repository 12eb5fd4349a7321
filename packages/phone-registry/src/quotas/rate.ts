/** At most `limit` uses per window of `seconds`. */
export interface Rate {
  readonly limit: number;
  readonly seconds: number;
}
