//! A tournament tree: finds the least of many ranks (D. E. Knuth, The Art of Computer Programming
//! 3, section 5.4.1).

/// With up to this many contenders, a change plays all matches: their number is always the same,
/// which a processor foresees.
const FEW: usize = 16;

/// The rank of a contender.
pub type Rank = u128;

/// A complete binary tree of matches. Its contenders are numbered from 0; one without a rank has
/// [`Rank::MAX`]. It takes 32 bytes for each contender.
#[derive(Clone, Debug)]
pub struct Tournament {
    least: Rank,
    /// The ranks that meet in each match. Match 1 is the last one; the winners of matches 2n and
    /// 2n + 1 meet in match n. Match 0 is not in use. The contenders meet in the second half.
    matches: Vec<[Rank; 2]>,
}

impl Tournament {
    /// A tree for at least so many contenders, none of which has a rank.
    pub fn new(contenders: usize) -> Self {
        let matches = contenders.next_power_of_two().max(2);
        Tournament { least: Rank::MAX, matches: vec![[Rank::MAX; 2]; matches] }
    }

    /// The most contenders.
    pub fn contenders(&self) -> usize {
        self.matches.len()
    }

    /// The least rank.
    #[inline]
    pub fn least(&self) -> Rank {
        self.least
    }

    /// The rank of a contender.
    ///
    /// # Panics
    /// If there is no such contender.
    #[inline]
    pub fn get(&self, contender: usize) -> Rank {
        self.matches[(self.matches.len() + contender) / 2][contender % 2]
    }

    /// Changes the rank of a contender.
    ///
    /// # Panics
    /// If there is no such contender.
    #[inline]
    pub fn set(&mut self, contender: usize, rank: Rank) {
        match self.matches.len() {
            ..=FEW => self.play(contender, rank, false),
            _ => self.play_until_same(contender, rank),
        }
    }

    /// Apart, so that callers contain the loop only once.
    #[inline(never)]
    fn play_until_same(&mut self, contender: usize, rank: Rank) {
        self.play(contender, rank, true);
    }

    /// A contender plays its matches again: all of them, or until one ends as before.
    #[inline(always)]
    fn play(&mut self, contender: usize, rank: Rank, until_same: bool) {
        let (mut node, mut winner) = (self.matches.len() + contender, rank);
        while node > 1 {
            let side = node % 2;
            node /= 2;
            let ranks = &mut self.matches[node];
            let before = ranks[0].min(ranks[1]);
            ranks[side] = winner;
            winner = ranks[0].min(ranks[1]);
            if until_same && winner == before {
                return;
            }
        }
        self.least = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_rank_wins(
            contenders in 1usize..40,
            changes in prop::collection::vec((0usize..40, prop_oneof![0u128..100, Just(Rank::MAX)]), 1..100),
        ) {
            let mut tree = Tournament::new(contenders);
            prop_assert!(tree.contenders() >= contenders);
            let mut ranks = vec![Rank::MAX; contenders];
            for (contender, rank) in changes {
                let contender = contender % contenders;
                tree.set(contender, rank);
                ranks[contender] = rank;
                prop_assert_eq!(Some(tree.least()), ranks.iter().min().copied());
                let found: Vec<_> = (0..contenders).map(|contender| tree.get(contender)).collect();
                prop_assert_eq!(&found, &ranks);
            }
        }
    }
}
