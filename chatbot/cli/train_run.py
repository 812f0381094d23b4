"""One training from pairs to export; needs TensorFlow, so it is imported late."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

from chatbot.artifact import KnownAnswers
from chatbot.cli.console import say
from chatbot.cli.signals import StopSignals
from chatbot.cli.train_hooks import ConsoleHooks, Samples
from chatbot.config import Config
from chatbot.dataset.batches import Batches
from chatbot.dataset.corpus import Corpus, split_by_question
from chatbot.dataset.encode import EncodedPairs, Ids, PairEncoder, make_pair_encoder
from chatbot.dataset.morphemes import analyze_all, cache_directory
from chatbot.drafts import Drafts, make_drafts
from chatbot.errors import UserError
from chatbot.export import export
from chatbot.layers.ngram_bag import NGRAMS_PER_PIECE
from chatbot.parameter_count import count_parameters
from chatbot.storage import write_text
from chatbot.text.analyzer import make_analyzer
from chatbot.text.ngrams import ngram_table
from chatbot.text.pieces import rejoin
from chatbot.text.vocabulary import Vocabulary
from chatbot.training.checkpoints import Checkpoints, restore
from chatbot.training.loop import Selection, Trainer
from chatbot.training.plan import Plan, make_plan, validation_share
from chatbot.training.replies import Replier
from chatbot.training.run_directory import RunDirectory
from chatbot.training.selection import LossSelection, ReplySelection
from chatbot.training.state import TrainingState
from chatbot.transformer.base import Transformer
from chatbot.transformer.make import make_transformer

_SAMPLES = 5
_SELF_CHECK_QUESTIONS = 32


class TrainRun:
    """Wires data, training and export for the command line.

    Args:
        run: where everything is written.
        config: settings.
        corpus: all pairs.
        origin: run to begin from, or None.
        threads: of TensorFlow.
        signals: asks to stop.
    """

    def __init__(
        self,
        run: RunDirectory,
        config: Config,
        corpus: Corpus,
        origin: RunDirectory | None,
        threads: int,
        signals: StopSignals,
    ) -> None:
        self.run = run
        self.config = config
        self.corpus = corpus
        self.origin = origin
        self.signals = signals
        # Numbered over the whole corpus, so that a number means one answer in every phase, split and later run.
        self.answer_numbers = corpus.answer_numbers
        self.num_answers = int(self.answer_numbers.max()) + 1
        self.task = config.text.task
        self.unit = "pair" if self.task == "chat" else "line"
        self.questions: list[list[str]] = []
        self.answers: list[list[str]] = []
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        gpus = tf.config.list_physical_devices("GPU")
        say(f"devices: {len(gpus)} GPU" if gpus else "devices: CPU")

    def execute(self) -> None:
        """Trains, refits if asked for, and exports."""
        self._analyze()
        settings, num_pairs = self.config.training, len(self.corpus.pairs)
        train, validation = split_by_question(self.corpus, validation_share(settings, num_pairs), settings.seed)
        if not len(train):
            raise UserError(f"validation_split {settings.validation_split}: nothing is left to train on; give a smaller one")
        if len(validation):
            say(f"split: {len(train):,} {self.unit}s to train on, {len(validation):,} held out, none on both sides")
        else:
            say(f"no {self.unit}s are held out: nothing is selected, the last weights are exported")
        plan = make_plan(settings, len(train), self.config.model.norm)
        say(f"plan: {plan.batch_size} {self.unit}s a step, {plan.steps_per_epoch} steps an epoch, at most {plan.epochs} epochs")
        phase = self._phase("select", plan, train, validation)
        threshold = phase.threshold
        if settings.refit and len(validation):
            steps = phase.state.best_step
            say(f"refit: all {num_pairs:,} {self.unit}s for the chosen {steps:,} steps")
            phase = self._phase("refit", plan, np.arange(num_pairs), validation[:0], last_step=steps)
        self._export(phase, threshold)

    def _analyze(self) -> None:
        def on_progress(done: int, total: int) -> None:
            if sys.stderr.isatty():
                print(f"\rmorphemes: {done:,}/{total:,}", end="\n" if done == total else "", file=sys.stderr, flush=True)

        texts = self.corpus.questions + self.corpus.answers
        morphemes = analyze_all(texts, make_analyzer(self.config.text.analyzer), cache_directory(), on_progress)
        self.questions, self.answers = morphemes[: len(self.corpus.pairs)], morphemes[len(self.corpus.pairs) :]

    def _phase(self, name: str, plan: Plan, train: np.ndarray, validation: np.ndarray, last_step: int | None = None) -> Phase:
        """Trains a new model on some rows, or goes on where its newest checkpoint stands."""
        settings = self.config.training
        encoder = self._encoder(train)
        pairs = self._encoded(encoder, train)
        _report(encoder, pairs)
        write_text(self.run.vocabulary, encoder.vocabulary.to_json())

        keras.utils.set_random_seed(settings.seed)
        model = make_transformer(len(encoder.vocabulary), self.num_answers, self.config.model, name="transformer")
        parameters = count_parameters(self.config.model, len(encoder.vocabulary), self.num_answers)
        say(f"model: {parameters:,} parameters")
        surfaces = [encoder.vocabulary.surface(index) for index in range(len(encoder.vocabulary))]
        model.set_ngrams(ngram_table(surfaces, self.config.model.ngram_buckets, NGRAMS_PER_PIECE))
        if self.origin is not None:
            self._take_weights(self.origin, model)

        batches = Batches(pairs, plan.batch_size, plan.passes, settings.seed)
        checkpoints = Checkpoints(self.run.checkpoints, say)
        trainer = Trainer(model, batches, settings, plan, checkpoints, name, self.signals.requested)
        if trainer.state.step:
            say(f"going on from step {trainer.state.step:,}")
        self.run.forget_after(name, trainer.state.epoch)
        if name == "select" and not trainer.state.is_finished:
            checkpoints.forget("refit")  # there are some where the last checkpoint of the selection was damaged

        # Of all known answers, held out or not: the answer memory has a place for each.
        drafts = make_drafts(encoder, self.answers, self.answer_numbers) if self.config.model.answer_memory else None
        replier = Replier(model, self.task, encoder.vocabulary, encoder.settings.max_answer_length or 1, drafts)
        selection = self._selection(encoder, validation, replier) if len(validation) else None
        hooks = ConsoleHooks(
            self.run, replier, self._samples(encoder, train, validation), last_step or plan.total_steps, len(batches)
        )
        trainer.build_graph()
        with self.signals.deferred():
            state = trainer.run(hooks, selection, last_step)
        threshold = selection.threshold() if isinstance(selection, ReplySelection) else None
        return Phase(model, encoder, drafts, state, threshold)

    def _selection(self, encoder: PairEncoder, validation: np.ndarray, replier: Replier) -> Selection:
        pairs, texts = self._encoded(encoder, validation), [self.corpus.answers[row] for row in validation]
        if self.task == "chat":
            return ReplySelection(pairs, texts, replier)
        kept = (rejoin(map(encoder.vocabulary.surface, ids)) for ids in pairs.answer_ids)  # what a cut line lost is not scored
        lengths = [len(part) if is_cut else len(text) for part, is_cut, text in zip(kept, pairs.is_cut, texts, strict=True)]
        return LossSelection(pairs, sum(lengths))

    def _take_weights(self, origin: RunDirectory, model: Transformer) -> None:
        """Loads the weights of another run; what belongs to its answers only if this data is the same."""
        variables = model.variables
        if origin.read_config()["data"]["digest"] != self.corpus.digest():
            variables = [variable for variable in variables if "/answer_memory/" not in variable.path]
        restore(origin.final_checkpoint(), variables)

    def _encoder(self, rows: np.ndarray) -> PairEncoder:
        vocabulary = None
        if self.origin is not None:
            vocabulary = Vocabulary.from_json(self.origin.vocabulary.read_text(encoding="utf-8"))
        questions, answers = [self.questions[row] for row in rows], [self.answers[row] for row in rows]
        return make_pair_encoder(self.config.text, questions, answers, vocabulary)

    def _encoded(self, encoder: PairEncoder, rows: np.ndarray) -> EncodedPairs:
        questions, answers = [self.questions[row] for row in rows], [self.answers[row] for row in rows]
        return encoder.encode(questions, answers, self.answer_numbers[rows])

    def _samples(self, encoder: PairEncoder, train: np.ndarray, validation: np.ndarray) -> Samples:
        """Five questions, or beginnings of lines, that stay the same over the epochs."""
        kind = "questions" if self.task == "chat" else "lines to continue"
        title = f"{kind}, held out" if len(validation) else f"{kind}, trained on since none are held out"
        rows = validation if len(validation) else train
        chosen = np.random.default_rng(self.config.training.seed).permutation(rows)[:_SAMPLES]
        prompts = self._prompts(encoder, chosen)
        if self.task == "chat":
            return Samples(title, [self.corpus.questions[row] for row in chosen], prompts)
        return Samples(title, [rejoin(map(encoder.vocabulary.surface, ids)) for ids in prompts], prompts)

    def _prompts(self, encoder: PairEncoder, rows: np.ndarray) -> list[Ids]:
        """Some questions, or the first half of some lines."""
        encoded = self._encoded(encoder, rows)
        if self.task == "chat":
            return encoded.question_ids
        return [ids[: -(-len(ids) // 2)] for ids in encoded.answer_ids]

    def _export(self, phase: Phase, threshold: float | None) -> None:
        rows = np.arange(min(_SELF_CHECK_QUESTIONS, len(self.corpus.pairs)))
        vocabulary = phase.encoder.vocabulary
        samples = [[vocabulary.pieces[index] for index in ids] for ids in self._prompts(phase.encoder, rows)]
        texts = tuple(dict.fromkeys(self.corpus.answers)) if self.task == "chat" else ()
        known = KnownAnswers(texts, threshold)
        digest = export(phase.model, vocabulary, phase.encoder.settings, self.run.export, samples, known, phase.drafts)
        say(f"exported and checked: {self.run.export} (sha256 of its manifest: {digest})")
        say(f"chat: python chat.py {self.run.path}")


@dataclass(frozen=True)
class Phase:
    """What a phase ends with; the model holds the chosen weights. The threshold is None where nothing was held out."""

    model: Transformer
    encoder: PairEncoder
    drafts: Drafts | None
    state: TrainingState
    threshold: float | None


def _report(encoder: PairEncoder, pairs: EncodedPairs) -> None:
    """Says what the text has become, and what is cut, before an hour goes into it."""
    settings, cut_answers = encoder.settings, int(np.sum(pairs.is_cut))
    lengths = f"questions up to {settings.max_question_length} pieces, answers up to {settings.max_answer_length}"
    flags = "--max-question-length and --max-answer-length raise them"
    cut = f"{pairs.num_cut_questions:,} questions, {cut_answers:,} answers; {flags}"
    if settings.task == "language-model":
        lengths = f"lines up to {settings.max_answer_length} pieces"
        cut = f"{cut_answers:,} lines; --max-answer-length raises it"
    say(f"vocabulary: {len(encoder.vocabulary):,} pieces; {pairs.num_tokens:,} tokens; {lengths}")
    if pairs.num_cut_questions or cut_answers:
        say(f"cut to these lengths: {cut}")
