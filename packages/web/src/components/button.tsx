import type { ButtonHTMLAttributes } from "react";

interface Properties extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: "primary" | "secondary" | "danger" | "plain" | undefined;
  readonly small?: boolean | undefined;
  /** Shows that the button's action is running, and disables the button. */
  readonly busy?: boolean | undefined;
}

export function Button({ kind = "secondary", small = false, busy = false, disabled, children, ...rest }: Properties) {
  const classes = ["button", kind, small && "small"].filter(Boolean).join(" ");
  return (
    <button type="button" className={classes} disabled={disabled || busy} data-busy={busy || undefined} {...rest}>
      {children}
    </button>
  );
}
