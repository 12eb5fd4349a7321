/** At most `limit` uses per window of `seconds`. */
export interface Rate {
  /** Maximum uses per window, 0 or more. */
  readonly limit: number;
  /** Length of the window, at least 1. */
  readonly seconds: number;
}
