import type { ReactNode } from "react";

interface Properties {
  readonly className: string;
  readonly children: ReactNode;
  onSubmit(): void;
}

/** A form that the page handles itself: the browser sends nothing. */
export const Form = ({ onSubmit, ...rest }: Properties) => (
  <form
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
    {...rest}
  />
);
