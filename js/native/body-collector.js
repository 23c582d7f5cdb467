// A whole body from its pieces, up to a bound.

export class BodyCollector {
  #bytesMax;
  #done;
  #pieces = [];
  #bytes = 0;
  #isOver = false;

  /**
   * @param {number} bytesMax of the body
   * @param {(body: ArrayBuffer | null) => void} done called once; null if the body is larger
   */
  constructor(bytesMax, done) {
    this.#bytesMax = bytesMax;
    this.#done = done;
  }

  /** Takes the next piece, which is the collector's own from now on. */
  add(piece, isLast) {
    if (this.#isOver) return;
    this.#bytes += piece.byteLength;
    if (this.#bytes > this.#bytesMax) {
      this.#pieces.length = 0;
      this.#isOver = true;
      this.#done(null);
      return;
    }
    if (piece.byteLength > 0) this.#pieces.push(piece);
    if (!isLast) return;
    this.#isOver = true;
    this.#done(this.#joined());
  }

  #joined() {
    const pieces = this.#pieces;
    if (pieces.length <= 1) return pieces[0] ?? new ArrayBuffer(0);
    const whole = new Uint8Array(this.#bytes);
    let offset = 0;
    for (const piece of pieces) {
      whole.set(new Uint8Array(piece), offset);
      offset += piece.byteLength;
    }
    return whole.buffer;
  }
}
