// The board: Shudan draws it, this decides what is on it.

import { createElement as h, render } from "preact";
import { Goban } from "shudan";
import { PASS } from "./game.js";

// Room for the coordinates and the border, in widths of a point.
const MARGIN = 2.4;
const MIN_POINT = 12;
const MAX_POINT = 80;
// Least share of the visits, or of the policy, that is shown.
const LEAST_SHARE = 0.005;

const rows = (values, size, change = (value) => value) =>
  Array.from({ length: size }, (_, y) => Array.from({ length: size }, (_, x) => change(values[y * size + x], y * size + x)));

export class Board {
  // onPlay(point) is called for a click.
  constructor(element, onPlay) {
    this.element = element;
    this.onPlay = onPlay;
    this.hovered = null;
    this.shown = null;
    new ResizeObserver(() => this.draw()).observe(element);
  }

  // shown: {position, analysis, view, ownership, score, next}: what is to be seen.
  show(shown) {
    this.shown = shown;
    this.draw();
  }

  // Follow the expected line of a move, null for none.
  hover(point) {
    if (this.hovered === point) return;
    this.hovered = point;
    this.draw();
  }

  draw() {
    if (!this.shown?.position) return;
    const { position, analysis, view, ownership, score, next } = this.shown;
    const size = position.size;
    const signs = [...position.stones].map((stone) => (stone === "X" ? 1 : stone === "O" ? -1 : 0));
    const markers = Array(size * size).fill(null);
    const ghosts = Array(size * size).fill(null);
    const heat = Array(size * size).fill(null);
    const dimmed = (score?.dead ?? []).map((point) => [point % size, Math.floor(point / size)]);
    if (position.last !== null && position.last !== PASS) markers[position.last] = { type: "circle" };
    if (position.ko !== null) markers[position.ko] = { type: "square" };
    const followed = analysis?.moves.find((move) => move.point === this.hovered);
    if (followed) {
      this.putLine(followed.pv, analysis.color, signs, markers, dimmed, size);
    } else {
      for (const { point, color } of next) if (point >= 0) ghosts[point] = { sign: color === "b" ? 1 : -1, faint: true };
      if (analysis && view === "moves") this.putMoves(analysis, heat);
      if (analysis && view === "policy") this.putPolicy(analysis.policy, signs, heat);
    }
    const paint = analysis && ownership ? analysis.ownership.map((share) => (Math.abs(share) < 10 ? 0 : share / 100)) : [];
    const width = this.element.clientWidth;
    const pointSize = Math.max(MIN_POINT, Math.min(MAX_POINT, Math.floor(width / (size + MARGIN)), this.room(size)));
    render(h(Goban, {
      vertexSize: pointSize, showCoordinates: true, signMap: rows(signs, size), markerMap: rows(markers, size),
      ghostStoneMap: rows(ghosts, size), heatMap: rows(heat, size), paintMap: rows(paint, size), dimmedVertices: dimmed,
      innerProps: { onPointerLeave: () => this.hover(null) },
      onVertexClick: (_, [x, y]) => this.onPlay(y * size + x),
      onVertexPointerEnter: (_, [x, y]) => this.hover(y * size + x),
    }), this.element);
  }

  // The size of a point with which the board is no higher than the window.
  room(size) {
    return Math.floor((window.innerHeight - 130) / (size + MARGIN));
  }

  putLine(line, first, signs, markers, dimmed, size) {
    line.forEach((point, index) => {
      if (point === PASS || signs[point] !== 0) return;
      signs[point] = ((first === "b") === (index % 2 === 0)) ? 1 : -1;
      markers[point] = { type: "label", label: String(index + 1) };
      dimmed.push([point % size, Math.floor(point / size)]);
    });
  }

  putMoves({ moves, visits }, heat) {
    moves.forEach((move, order) => {
      if (move.point === PASS || (order > 0 && move.visits < LEAST_SHARE * visits)) return;
      const share = move.visits / Math.max(1, moves[0].visits);
      const strength = order === 0 ? 9 : share > 0.5 ? 8 : share > 0.2 ? 7 : share > 0.05 ? 6 : 5;
      heat[move.point] = { strength, text: `${Math.round(100 * move.winrate)}\n${shorten(move.visits)}` };
    });
  }

  putPolicy(policy, signs, heat) {
    const most = Math.max(...policy.slice(0, -1));
    policy.slice(0, -1).forEach((share, point) => {
      if (share / 1000 < LEAST_SHARE || signs[point] !== 0) return;
      const strength = share === most ? 9 : share > most / 2 ? 8 : share > most / 5 ? 7 : share > most / 20 ? 6 : 5;
      heat[point] = { strength, text: `${share >= 100 ? Math.round(share / 10) : (share / 10).toFixed(1)}` };
    });
  }
}

export function shorten(visits) {
  return visits < 1000 ? String(visits) : `${(visits / 1000).toFixed(visits < 10000 ? 1 : 0)}k`;
}
