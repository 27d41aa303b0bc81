// The stretch of time that is on the screen.

export class View {
  begin: number;
  end: number;
  /** Closer than this there is nothing to see: times are whole nanoseconds. */
  static readonly closest = 40;

  constructor(readonly duration: number) {
    this.begin = 0;
    this.end = 1;
    this.fitAll();
  }

  get span(): number {
    return this.end - this.begin;
  }

  private get margin(): number {
    return Math.max(this.duration * 0.01, 1);
  }

  fitAll(): void {
    this.begin = -this.margin;
    this.end = Math.max(this.duration, View.closest) + this.margin;
  }

  /** Shows a stretch with a little room around it. */
  fit(from: number, to: number): void {
    const room = Math.max((to - from) * 0.15, View.closest / 2);
    this.set(from - room, to + room);
  }

  /** Moves as little as possible to have a stretch on the screen, and keeps the zoom if it fits. */
  reveal(from: number, to: number): void {
    if (to - from > this.span * 0.9) return this.fit(from, to);
    const room = this.span * 0.1;
    if (from < this.begin + room) return this.pan(from - room - this.begin);
    if (to > this.end - room) return this.pan(to + room - this.end);
  }

  /** A factor below 1 comes closer; `time` stays where it is. */
  zoom(factor: number, time: number): void {
    const longest = Math.max(this.duration, View.closest) + 2 * this.margin;
    const span = Math.min(Math.max(this.span * factor, View.closest), longest);
    const share = (time - this.begin) / this.span;
    this.set(time - share * span, time + (1 - share) * span);
  }

  pan(by: number): void {
    this.set(this.begin + by, this.end + by);
  }

  set(begin: number, end: number): void {
    const first = -this.margin;
    const last = Math.max(this.duration, View.closest) + this.margin;
    let span = Math.max(end - begin, View.closest);
    if (span >= last - first) {
      this.begin = first;
      this.end = last;
      return;
    }
    begin = Math.min(Math.max(begin, first), last - span);
    this.begin = begin;
    this.end = begin + span;
  }

  toPixel(time: number, width: number): number {
    return ((time - this.begin) / this.span) * width;
  }

  toTime(pixel: number, width: number): number {
    return this.begin + (pixel / width) * this.span;
  }
}
