//! Impairments of links against their formulas, and conservation.

use narrows_common::{Duration, Rng, Time};
use narrows_queueing::impairments::{
    Chance, DelaySteps, Distribution, Fate, GilbertElliott, ImpairedDirection, ImpairmentConfig,
    JitterConfig, ReorderConfig,
};
use proptest::prelude::*;

const DELAY_PS: u64 = 10_000_000_000;

fn config() -> ImpairmentConfig {
    ImpairmentConfig {
        delay: DelaySteps { steps: vec![(0, DELAY_PS)], period_ps: None },
        loss: None,
        duplicate: None,
        reorder: None,
        jitter: None,
        keep_order: true,
    }
}

fn direction(config: &ImpairmentConfig, seed: u64) -> ImpairedDirection {
    ImpairedDirection::new(config, |name| Rng::for_component(seed, name)).expect("it is valid")
}

/// The fates of packets that enter every 100 us.
fn fates(config: &ImpairmentConfig, packets: u64) -> Vec<(Time, Fate, Option<Fate>)> {
    let mut direction = direction(config, 7);
    let enter = |n| {
        let now = Time::ZERO + Duration::from_us(100 * n);
        let (own, copy) = direction.handle(now);
        (now, own, copy)
    };
    (0..packets).map(enter).collect()
}

/// The mean and the standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / values.len() as f64).sqrt())
}

#[track_caller]
fn assert_close(found: f64, expected: f64, error: f64, what: &str) {
    assert!((found - expected).abs() <= error, "{what}: {found}, expected {expected} +- {error}");
}

fn lost(config: &ImpairmentConfig, packets: u64) -> Vec<bool> {
    fates(config, packets).iter().map(|&(_, own, _)| own == Fate::Lost).collect()
}

/// The loss is that of the stationary states: p / (p + r) of the packets find the bad one.
#[test]
fn gilbert_elliott_loses_the_stationary_share() {
    let (p, r) = (0.01, 0.2);
    for (bad_loss, good_loss) in [(1.0, 0.0), (0.7, 0.002)] {
        let loss = Some(GilbertElliott { p, r, bad_loss, good_loss });
        let lost = lost(&ImpairmentConfig { loss, ..config() }, 1_000_000);
        let share = lost.iter().filter(|&&is_lost| is_lost).count() as f64 / 1e6;
        let bad = p / (p + r);
        assert_close(share, bad * bad_loss + (1.0 - bad) * good_loss, 0.001, "the loss");
    }
}

/// With losses in the bad state only, bursts are geometric: their mean length is 1 / r, and one
/// goes on with probability 1 - r.
#[test]
fn bursts_are_geometric() {
    let r = 0.25;
    let loss = Some(GilbertElliott { p: 0.01, r, bad_loss: 1.0, good_loss: 0.0 });
    let lost = lost(&ImpairmentConfig { loss, ..config() }, 1_000_000);
    let bursts: Vec<usize> = lost.split(|is_lost| !is_lost).map(<[bool]>::len).collect();
    let longer = |length| bursts.iter().filter(|&&burst| burst > length).count() as f64;
    let total: usize = bursts.iter().sum();
    assert_close(total as f64 / longer(0), 1.0 / r, 0.1, "the mean burst");
    for length in 1..6 {
        let survival = longer(length) / longer(0);
        assert_close(survival, (1.0 - r).powi(length as i32), 0.02, "bursts that are longer");
    }
}

/// A correlation leaves the share as it is, and makes runs of 1 / ((1 - c) (1 - p)) copies.
#[test]
fn duplicates_are_the_share_and_their_runs_the_correlations() {
    let (probability, correlation) = (0.2, 0.5);
    let duplicate = Some(Chance { probability, correlation });
    let found = fates(&ImpairmentConfig { duplicate, ..config() }, 1_000_000);
    let copied: Vec<bool> = found.iter().map(|(_, _, copy)| copy.is_some()).collect();
    let count = copied.iter().filter(|&&is_copied| is_copied).count() as f64;
    let runs = copied.split(|is_copied| !is_copied).filter(|run| !run.is_empty()).count() as f64;
    assert_close(count / 1e6, probability, 0.003, "the share");
    let expected = 1.0 / ((1.0 - correlation) * (1.0 - probability));
    assert_close(count / runs, expected, 0.03, "the mean run");
}

/// A tenth of the packets arrive at once, each before those of the 10 ms before it.
#[test]
fn reordered_packets_skip_the_delay() {
    let reorder = Some(ReorderConfig { probability: 0.1, correlation: 0.0, gap: 1 });
    let found = fates(&ImpairmentConfig { reorder, ..config() }, 200_000);
    let mut skips = 0;
    for (now, own, _) in found {
        let Fate::Arrives { at, skipped } = own else { panic!("none is lost") };
        assert_eq!(at.since(now).as_ps(), if skipped { 0 } else { DELAY_PS });
        skips += u32::from(skipped);
    }
    assert_close(f64::from(skips) / 2e5, 0.1, 0.003, "the share");
}

/// With a gap of 5 and certainty, every fifth packet skips the delay.
#[test]
fn a_gap_reorders_every_fifth() {
    let reorder = Some(ReorderConfig { probability: 1.0, correlation: 0.0, gap: 5 });
    let found = fates(&ImpairmentConfig { reorder, ..config() }, 20);
    let is_skipped = |fate: &Fate| matches!(fate, Fate::Arrives { skipped: true, .. });
    let skipped: Vec<usize> = (0..20).filter(|&n| is_skipped(&found[n].1)).collect();
    assert_eq!(skipped, [4, 9, 14, 19]);
}

/// Extra delays in units of the jitter, 2 ms, around 10 ms: no packet's delay is below zero.
fn extras(distribution: Distribution, correlation: f64) -> Vec<f64> {
    let jitter = Some(JitterConfig { time_ps: DELAY_PS / 5, distribution, correlation });
    let found = fates(&ImpairmentConfig { jitter, keep_order: false, ..config() }, 400_000);
    let extra = |(now, own, _): &(Time, Fate, Option<Fate>)| match own {
        Fate::Arrives { at, .. } => at.since(*now).as_ps() as f64 / (DELAY_PS as f64 / 5.0) - 5.0,
        Fate::Lost => panic!("none is lost"),
    };
    found.iter().map(extra).collect()
}

/// Uniform: sd 1/sqrt(3). Pareto of shape 3, X, capped at 4.5: its mean is 1.5 - 1/40.5 and its
/// second moment 3 - 2/4.5; the number is 4/3 (X - 1.5).
#[test]
fn jitter_has_the_moments_of_its_distribution() {
    let mean = 1.5 - 1.0 / 40.5;
    let sd = (3.0_f64 - 2.0 / 4.5 - mean * mean).sqrt() * 4.0 / 3.0;
    for (distribution, expected) in [
        (Distribution::Uniform, (0.0, 1.0 / 3.0_f64.sqrt())),
        (Distribution::Normal, (0.0, 1.0)),
        (Distribution::Pareto, ((mean - 1.5) * 4.0 / 3.0, sd)),
    ] {
        let found = moments(&extras(distribution, 0.0));
        assert_close(found.0, expected.0, 0.008, &format!("the mean of {distribution:?}"));
        assert_close(found.1, expected.1, 0.008, &format!("the deviation of {distribution:?}"));
    }
}

/// The quarter and the three quarters are of one draw: between the extremes of its two parts.
#[test]
fn paretonormal_is_a_quarter_normal() {
    let mut found = extras(Distribution::ParetoNormal, 0.0);
    found.sort_by(f64::total_cmp);
    let at = |share: f64| found[(share * found.len() as f64) as usize];
    let pareto = |u: f64| (1.0 / (1.0 - u).cbrt() - 1.5) * 4.0 / 3.0;
    for (u, normal) in [(0.158_655, -1.0), (0.5, 0.0), (0.841_345, 1.0)] {
        assert_close(at(u), 0.25 * normal + 0.75 * pareto(u), 0.01, "a quantile");
    }
}

#[test]
fn correlated_jitter_keeps_its_moments() {
    let values = extras(Distribution::Normal, 0.6);
    let (mean, sd) = moments(&values);
    assert_close(mean, 0.0, 0.02, "the mean");
    assert_close(sd, 1.0, 0.02, "the deviation");
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    assert_close(products / values.len() as f64 / (sd * sd), 0.6, 0.01, "the correlation");
}

#[test]
fn a_falling_delay_keeps_order_or_not() {
    let ms = |ms| Time::ZERO + Duration::from_ms(ms);
    let arrivals = |keep_order| {
        let steps = vec![(0, 30_000_000_000), (10_000_000_000, 5_000_000_000)];
        let delay = DelaySteps { steps, period_ps: Some(20_000_000_000) };
        let config = ImpairmentConfig { delay, keep_order, ..config() };
        let mut direction = direction(&config, 1);
        let arrivals = [9, 10, 19, 20].map(|at| match direction.handle(ms(at)).0 {
            Fate::Arrives { at, .. } => at,
            Fate::Lost => panic!("none is lost"),
        });
        (arrivals, direction.counts(ms(39)))
    };
    let (ordered, counts) = arrivals(true);
    assert_eq!((ordered, counts.reordered), ([ms(39), ms(39), ms(39), ms(50)], 0));
    assert_eq!((counts.delivered, counts.in_flight), (3, 1));
    let (free, counts) = arrivals(false);
    assert_eq!((free, counts.reordered), ([ms(39), ms(15), ms(24), ms(50)], 2));
}

#[test]
fn bad_values_name_the_impairment() {
    let chance = |probability, correlation| Some(Chance { probability, correlation });
    for (config, expected) in [
        (ImpairmentConfig { duplicate: chance(1.5, 0.0), ..config() }, "duplicate: a probability"),
        (ImpairmentConfig { duplicate: chance(0.5, 1.0), ..config() }, "duplicate: correlation"),
        (
            ImpairmentConfig {
                reorder: Some(ReorderConfig { probability: 0.5, correlation: 0.0, gap: 0 }),
                ..config()
            },
            "reorder: gap",
        ),
        (
            ImpairmentConfig {
                delay: DelaySteps { steps: vec![(1, 1)], period_ps: None },
                ..config()
            },
            "delay: expected a first step",
        ),
    ] {
        let error = ImpairedDirection::new(&config, |_| Rng::from_seed(1)).expect_err("refused");
        assert!(error.starts_with(expected), "{error}");
    }
}

fn chances() -> impl Strategy<Value = Option<Chance>> {
    let chance = (0.0..=1.0, 0.0..0.99)
        .prop_map(|(probability, correlation)| Chance { probability, correlation });
    prop::option::of(chance)
}

prop_compose! {
    fn configs()(
        loss in prop::option::of((0.0..=1.0, 0.0..=1.0, 0.0..=1.0, 0.0..=1.0)),
        duplicate in chances(),
        reorder in prop::option::of((0.0..=1.0, 0.0..0.99, 1u32..5)),
        jitter in prop::option::of((1..2 * DELAY_PS, 0usize..4, 0.0..0.99)),
        falls in prop::option::of((1..DELAY_PS, 0..DELAY_PS)),
        keep_order in any::<bool>(),
    ) -> ImpairmentConfig {
        let distributions = [
            Distribution::Uniform, Distribution::Normal, Distribution::Pareto,
            Distribution::ParetoNormal,
        ];
        ImpairmentConfig {
            delay: DelaySteps {
                steps: [(0, DELAY_PS)].into_iter().chain(falls).collect(),
                period_ps: None,
            },
            loss: loss.map(|(p, r, bad_loss, good_loss)| {
                GilbertElliott { p, r, bad_loss, good_loss }
            }),
            duplicate,
            reorder: reorder.map(|(probability, correlation, gap)| {
                ReorderConfig { probability, correlation, gap }
            }),
            jitter: jitter.map(|(time_ps, which, correlation)| {
                JitterConfig { time_ps, distribution: distributions[which], correlation }
            }),
            keep_order,
        }
    }
}

proptest! {
    /// Received + duplicated = delivered + lost + in flight, and each as the fates say. Nothing
    /// arrives before it entered, and only reordering breaks a kept order.
    #[test]
    fn packets_are_conserved(
        config in configs(),
        gaps in prop::collection::vec(0..DELAY_PS / 4, 1..200),
        rest in 0..2 * DELAY_PS,
        seed in any::<u64>(),
    ) {
        let mut direction = direction(&config, seed);
        let (mut now, mut fates, mut copies) = (Time::ZERO, vec![], 0);
        for gap in &gaps {
            now += Duration::from_ps(*gap);
            let (own, copy) = direction.handle(now);
            copies += u64::from(copy.is_some());
            for fate in [Some(own), copy].into_iter().flatten() {
                if let Fate::Arrives { at, skipped } = fate {
                    prop_assert!(at >= now && (!skipped || at == now));
                }
                fates.push(fate);
            }
        }
        let end = now + Duration::from_ps(rest);
        let counts = direction.counts(end);
        let arrivals = fates.iter().filter_map(|fate| match fate {
            Fate::Arrives { at, .. } => Some(*at),
            Fate::Lost => None,
        });
        let delivered = arrivals.clone().filter(|&at| at <= end).count() as u64;
        prop_assert_eq!(counts.received, gaps.len() as u64);
        prop_assert_eq!(counts.duplicated, copies);
        prop_assert_eq!(counts.delivered, delivered);
        prop_assert_eq!(counts.in_flight, arrivals.count() as u64 - delivered);
        prop_assert_eq!(
            counts.received + counts.duplicated,
            counts.delivered + counts.lost + counts.in_flight
        );
        if config.keep_order && config.reorder.is_none() {
            prop_assert_eq!(counts.reordered, 0);
        }
    }
}
