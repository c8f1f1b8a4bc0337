import { useId } from 'preact/hooks';
import '../../styles/gauge.css';

interface LimitGaugeProps {
  readonly title: string;
  readonly used: number;
  readonly max: number;
  /** Everything that the bar says, and more: `3 of 60, 57 left`. */
  readonly children: string;
}

/** Shows how much of a limit is used; the bar only repeats the words. */
export function LimitGauge({ title, used, max, children }: LimitGaugeProps) {
  const titleId = useId();
  return (
    <div class="gauge">
      <b id={titleId}>{title}</b>
      <meter
        aria-labelledby={titleId}
        aria-valuetext={children}
        max={Math.max(max, Number.MIN_VALUE)}
        value={Math.min(Math.max(used, 0), max)}
      />
      <span>{children}</span>
    </div>
  );
}
